import { createApp } from 'vue'
import Session from './Session.vue'

createApp(Session).mount('#app')
