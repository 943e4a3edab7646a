// V8 memory settings for all threads. Import this before any other module.
import { setFlagsFromString } from 'node:v8';

// Collects garbage when a heap has grown by 20 %. By default V8 lets it grow several times over; large refused requests
// then cost 60 MB more on a slow disk.
setFlagsFromString('--heap-growing-percent=20');
