import { dayMilliseconds } from '../../../shared/time.ts';

/** How long a session of the console is listed after it ended. */
export const listedMilliseconds = dayMilliseconds;
