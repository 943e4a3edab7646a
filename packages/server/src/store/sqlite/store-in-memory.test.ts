import { describeStore } from '../../../test/conformance/index.ts';
import { openStore } from '../open.ts';

const onFatal = (error: Error) => {
  throw error;
};

const open = async () => openStore({ databaseURL: 'sqlite::memory:', role: 'server', onFatal });

// `store.test.ts` runs the complete suite on a file, in the project `segments`.
describeStore('SQLite in memory', open, { isComplete: false });
