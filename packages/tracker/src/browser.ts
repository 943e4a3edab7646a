/** The entry point of `/tracker.js`. */
import { startInPage } from './page.ts';

startInPage();
