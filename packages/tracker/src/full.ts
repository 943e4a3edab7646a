/** The entry point of `/tracker.full.js`: the tracker, with automatic logging as set by the script tag's attributes. */
import { logAutomatically } from './automatic/automatic.ts';
import { addSetMethod } from './default-attributes.ts';
import { startInPage } from './page.ts';

startInPage(logAutomatically, addSetMethod);
