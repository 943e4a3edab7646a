import { describeStore } from '../../../test/conformance/index.ts';
import { smallSegments } from '../../../test/fixtures/small-segments.ts';
import { openStore } from '../open.ts';

const onFatal = (error: Error) => {
  throw error;
};

describeStore('SQLite in memory, with small segments', async () =>
  openStore({ databaseURL: 'sqlite::memory:', role: 'server', onFatal, arrangement: smallSegments }),
);
