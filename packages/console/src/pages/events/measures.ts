/** The four counts of every report. The first is the default. */
export const measures = { people: 'People', users: 'Browsers', sessions: 'Sessions', events: 'Events' } as const;
export type Measure = keyof typeof measures;
export const measureNames = Object.keys(measures) as Measure[];
