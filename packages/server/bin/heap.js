// How V8 looks after memory, for all threads: to be imported before anything that takes some.
import { setFlagsFromString } from 'node:v8';

// Garbage is collected when a heap has grown by a fifth. V8 would let it grow several times over, and large requests that are turned away
// leave much: on a slow disk that was 60 MB more.
setFlagsFromString('--heap-growing-percent=20');
