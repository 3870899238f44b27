import { mount } from 'svelte'
import Session from './Session.svelte'

mount(Session, { target: document.getElementById('app')! })
