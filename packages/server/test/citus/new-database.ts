// Creates a database without tables on all nodes of a cluster and prints its URL: `new-database.ts CLUSTER_URL NAME`.
import { createBareDatabase } from './databases.ts';

const [clusterURL = '', name = ''] = process.argv.slice(2);
const [url] = await createBareDatabase(clusterURL, name);
console.log(url);
