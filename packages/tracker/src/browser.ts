/** `/tracker.js` */
import { startInPage } from './page.ts';

startInPage();
