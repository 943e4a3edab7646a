// Makes a database on all nodes of a cluster, without tables, and prints its URL: `new-database.ts URL-OF-THE-CLUSTER NAME`.
import { makeBareDatabase } from './databases.ts';

const [clusterURL = '', name = ''] = process.argv.slice(2);
const [url] = await makeBareDatabase(clusterURL, name);
console.log(url);
