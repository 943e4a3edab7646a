import { describeStore } from '../../../test/conformance/index.ts';
import { openStore } from '../open.ts';

const onFatal = (error: Error) => {
  throw error;
};

const open = async () => openStore({ databaseURL: 'sqlite::memory:', role: 'server', onFatal });

// The project `segments` runs the same suite on a file (store.test.ts).
describeStore('SQLite in memory', open, { isComplete: false });
