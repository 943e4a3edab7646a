/** The pages for managing an account, in one chunk: separate chunks would be larger in total. */
export { Catalogue } from './catalogue.tsx';
export { SetUp } from './set-up.tsx';
export { Settings } from './settings.tsx';
