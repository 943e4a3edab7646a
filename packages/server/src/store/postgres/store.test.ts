import { describeStore } from '../../../test/conformance/index.ts';
import { newDatabase } from '../../../test/fixtures/postgres.ts';
import { openStore } from '../open.ts';

describeStore('PostgreSQL', async () => openStore({ databaseURL: await newDatabase(), role: 'server', onFatal: fail }));

function fail(error: Error): never {
  throw error;
}
