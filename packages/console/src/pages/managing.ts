/** The pages on which an account is managed. They are loaded together: each in a file of its own would weigh more. */
export { Catalogue } from './catalogue.tsx';
export { SetUp } from './set-up.tsx';
export { Settings } from './settings.tsx';
