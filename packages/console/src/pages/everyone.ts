/** The pages of people, which are loaded together: who opens the list opens a person next. */
export { People } from './people.tsx';
export { Person } from './person.tsx';
