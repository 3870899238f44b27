export { inspect, type InspectorParent } from './inspect.ts'
