// Memory settings of V8, for all threads. Must be imported before other modules.
import { setFlagsFromString } from 'node:v8';

// Collects garbage when a heap has grown by a fifth. By default V8 lets it grow several times over, and large refused requests leave much
// garbage: 60 MB more on a slow disk.
setFlagsFromString('--heap-growing-percent=20');
