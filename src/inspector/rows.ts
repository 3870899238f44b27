import { AXIS_MS, type Course, without } from './dots.ts'
import type { Make, Parent } from './elements.ts'
import { type Row, row } from './row.ts'

/** The name of this tab. No other tab has an empty name. */
export const OWN = ''

/** @returns A function that draws the dots of the tabs, a row for each tab. */
export function rowsIn(place: Parent, make: Make): (courses: ReadonlyMap<string, Course>, now: number) => void {
  const drawn = new Map<string, Row>()
  return (courses, now) => {
    for (const [tab, { element }] of drawn) {
      if (courses.has(tab)) continue
      element.remove()
      drawn.delete(tab)
    }
    for (const [tab, course] of courses) {
      const its = drawn.get(tab) ?? row(make, tab === OWN ? 'this tab' : 'another tab', now)
      if (!drawn.has(tab)) place.append(its.element)
      drawn.set(tab, its)
      its.draw(without(course, now - AXIS_MS), now)
    }
  }
}
