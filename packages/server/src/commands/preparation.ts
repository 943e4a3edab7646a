/** What goes on while the rest of `firsthand serve` is loaded. It imports little, so that it begins at once. */
export { prepareServing } from '../store/open.ts';
