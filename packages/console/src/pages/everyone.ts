/** The pages of people and of what they do now. They are loaded together, because most readers go from one to the next. */
export { Live } from './live.tsx';
export { People } from './people.tsx';
export { Person } from './person.tsx';
