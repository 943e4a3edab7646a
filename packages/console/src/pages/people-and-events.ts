/**
 * The pages of people and of what they do. They are loaded together, because most readers go from one to the next, and with fewer scripts
 * to split, all weigh 2.5 kB less.
 */
export { EventReports, Events } from './events.tsx';
export { Live } from './live.tsx';
export { People } from './people.tsx';
export { Person } from './person.tsx';
