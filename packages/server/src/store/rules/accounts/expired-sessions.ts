import { dayMilliseconds } from '../../../shared/time.ts';

/** How long a console session is listed after it ends. */
export const listedMilliseconds = dayMilliseconds;
