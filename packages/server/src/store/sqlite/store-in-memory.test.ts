import { describeStore } from '../../../test/conformance/index.ts';
import { openStore } from '../open.ts';

const onFatal = (error: Error) => {
  throw error;
};

describeStore('SQLite in memory', async () => openStore({ databaseURL: 'sqlite::memory:', role: 'server', onFatal }));
