// Creates a database without tables on all nodes of a cluster and prints its URL: `new-database.ts CLUSTER_URL NAME`.
import { makeBareDatabase } from './databases.ts';

const [clusterURL = '', name = ''] = process.argv.slice(2);
const [url] = await makeBareDatabase(clusterURL, name);
console.log(url);
