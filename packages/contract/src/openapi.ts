/** The OpenAPI 3.1 document, made from the operations table. */
import { errorAnswer, problem } from './answer.ts';
import * as contact from './contact.ts';
import { exampleOf, exampleWith, type JSONSchema, jsonSchemas, refTo } from './document/json-schemas.ts';
import { codesOf } from './document/operation-errors.ts';
import { type ErrorCode, errors } from './errors.ts';
import * as event from './event.ts';
import { type Operation, type OperationName, operationNames, operations } from './operations.ts';
import { condition } from './reports/filter.ts';

type Json = Record<string, unknown>;
type Method = Operation['methods'][number];

/** `logEvent` → `LogEvent`, `/event/logEvent` → `EventLogEvent`, `unknown_id` → `UnknownId` */
const pascal = (text: string) =>
  text.replace(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Parts of several requests and responses that clients have a name for. */
const parts = {
  AccountContact: contact.accountContact,
  BatchContact: contact.batchContact,
  BatchEvent: event.batchEvent,
  Filter: condition,
};
const nouns = {
  Contact: contact.contact,
  Claim: contact.claim,
  Link: contact.link,
  Event: event.event,
  EventDefinition: event.eventDefinition,
  Problem: problem,
};

const tokenUUID = {
  type: 'string',
  description: 'The token; or send it as `Authorization: Bearer`, which keeps it out of URLs.',
  examples: ['browser_4kQwYb5rEv7uJc1LzT8nX2'],
};

const allOperations = operationNames.map((name): [OperationName, Operation] => [name, operations[name]]);
const requestName = (name: string) => `${pascal(name)}Request`;
const responseName = (name: string, { stream }: Operation) => (stream ? 'Event' : `${pascal(name)}Response`);

/** The schema of a request, with the token and with the entries that are checked one by one. */
const withEntries = ({ entries = {} }: Operation, schema: JSONSchema): JSONSchema => {
  const properties = { tokenUUID, ...schema.properties };
  const named = Object.entries(parts);
  for (const [list, entry] of Object.entries(entries)) {
    const [name] = named.find(([, part]) => part === entry) ?? [];
    if (name === undefined) throw new Error(`the entries of ${list} have no name in the document`);
    Object.assign(properties, { [list]: { ...schema.properties?.[list], items: refTo(name) } });
  }
  return { ...schema, properties };
};

interface Schemas {
  readonly requests: Readonly<Record<string, JSONSchema>>;
  readonly components: Readonly<Record<string, JSONSchema>>;
}

const allSchemas = (): Schemas => {
  const made = jsonSchemas(
    { ...parts, ...Object.fromEntries(allOperations.map(([name, { input }]) => [requestName(name), input])) },
    'input',
  );
  const requests = Object.fromEntries(
    allOperations.map(([name, operation]) => [name, withEntries(operation, made[requestName(name)] ?? {})]),
  );
  const answers = allOperations.filter(([, { stream }]) => !stream);
  const responses = jsonSchemas(
    {
      ...nouns,
      ...Object.fromEntries(answers.map(([name, operation]) => [responseName(name, operation), operation.output])),
    },
    'output',
  );
  const bodies = allOperations.filter(([, { methods }]) => methods.includes('POST'));
  const components = {
    ...Object.fromEntries(Object.keys(parts).map((name) => [name, made[name] ?? {}])),
    ...Object.fromEntries(bodies.map(([name]) => [requestName(name), requests[name] ?? {}])),
    ...responses,
  };
  return { requests, components };
};

/** The example of a request: its required fields and those that the table names. */
const requestExample = (name: string, { example = [] }: Operation, { requests, components }: Schemas) => {
  const { required = [] } = requests[name] ?? {};
  return exampleWith(
    requests[name] ?? {},
    [...required, ...example.filter((field) => !required.includes(field))],
    components,
  );
};

/** How a parameter is written in a query string: words separated by commas, and any other list or object as its JSON text. */
const parameterForm = (schema: JSONSchema, example: unknown) => {
  const shown = example === undefined ? {} : { example };
  if (schema.items?.enum) return { style: 'form', explode: false, schema, ...shown };
  if (schema.type !== 'array' && schema.$ref === undefined) return { schema, ...shown };
  return { content: { 'application/json': { schema, ...shown } } };
};

const parameters = (name: string, operation: Operation, schemas: Schemas) => {
  const { properties = {}, required = [] } = schemas.requests[name] ?? {};
  const example = requestExample(name, operation, schemas);
  return Object.entries(properties).map(([field, { description, ...schema }]) => ({
    name: field,
    in: 'query',
    required: required.includes(field),
    description,
    ...parameterForm(schema, example[field]),
  }));
};

/** All carry the same fields: a browser sends the last three without asking first (CORS). */
const bodyTypes = ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'];

const requestBody = (name: string, operation: Operation, schemas: Schemas) => ({
  required: (schemas.requests[name]?.required ?? []).length > 0,
  content: Object.fromEntries(
    bodyTypes.map((type, index) => [
      type,
      {
        schema: refTo(requestName(name)),
        ...(index === 0 && { example: requestExample(name, operation, schemas) }),
      },
    ]),
  ),
});

const successOf = (name: string, operation: Operation, { components }: Schemas) => {
  const schema = refTo(responseName(name, operation));
  return operation.stream
    ? {
        description:
          'Server-sent events, each with one of these as its data. The first has no data, only the `id` at which the stream begins. An event of the type `error`, with the body of an error response as its data, ends the stream.',
        headers,
        content: { 'text/event-stream': { schema } },
      }
    : {
        description: 'Success: every change is stored.',
        headers,
        content: {
          'application/json': { schema, example: exampleOf(schema, components) },
          ...(operation.csv && { 'text/csv': { schema: { type: 'string' } } }),
        },
      };
};

const headers = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
const laterHeaders = { ...headers, 'Retry-After': { $ref: '#/components/headers/Retry-After' } };

/** The name of the response that has one of these codes: `UnknownContact`, `EmailTakenOrMergeRefused` */
const refusedName = (codes: readonly ErrorCode[]) => codes.map(pascal).join('Or');

/** The error response that has one of these codes, which have one status. `made` is the schema of any error response. */
const refused = (codes: readonly ErrorCode[], made: JSONSchema) => {
  const [first] = codes as [ErrorCode];
  const status = String(errors[first].status);
  const error = made.properties?.error ?? {};
  const code = { ...error.properties?.code, enum: codes, examples: [first] };
  const message = { ...error.properties?.message, examples: [errors[first].when] };
  const properties = {
    ...made.properties,
    error: {
      ...error,
      description: 'Why the request was refused.',
      properties: { ...error.properties, code, message },
    },
    status: { ...made.properties?.status, const: status, examples: [status] },
  };
  const schema = { ...made, properties };
  return {
    description: codes.map((code) => `- \`${code}\`: ${errors[code].when}`).join('\n'),
    headers: status === '429' || status === '503' ? laterHeaders : headers,
    content: { 'application/json': { schema, example: exampleOf(schema, {}) } },
  };
};

/** The codes that an operation may answer, by status. */
const codesByStatus = (operation: Operation, method: Method): [status: string, codes: ErrorCode[]][] => {
  const byStatus = new Map<string, ErrorCode[]>();
  for (const code of codesOf(operation, method)) {
    const status = String(errors[code].status);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus];
};

/**
 * An operationId is an identifier, and unique: the first method of the first path has the name of the operation. The others add
 * `ByGet`, and `At` with their path: `logEventByGetAtLogEvent`.
 */
const operationIDOf = (name: string, operation: Operation, method: Method, path: string) => {
  const by = method === operation.methods[0] ? '' : `By${pascal(method.toLowerCase())}`;
  const at = path === operation.paths[0] ? '' : `At${pascal(path)}`;
  return `${name}${by}${at}`;
};

const descriptionOf = (
  name: string,
  { details, csv, tokens, methods, paths }: Operation,
  method: Method,
  path: string,
) =>
  [
    details,
    csv &&
      `With the header \`Accept: text/csv\`, the response is a CSV file with all entries of \`${csv.list}\`: it takes neither \`limit\` nor a cursor, and ends early only with an error of the connection.`,
    `It takes a token of kind ${tokens.join(' or ')}.`,
    (method !== methods[0] || path !== paths[0]) && `The same as \`${name}\`.`,
  ]
    .filter(Boolean)
    .join(' ');

/** `/contact/createContact` → `Contact` */
const tagOf = ({ paths: [path] }: Operation) => pascal(path.split('/')[1] ?? '');

const methodItem = (name: string, operation: Operation, method: Method, path: string, schemas: Schemas) => ({
  operationId: operationIDOf(name, operation, method, path),
  tags: [tagOf(operation)],
  summary: operation.summary,
  description: descriptionOf(name, operation, method, path),
  ...(method === 'GET'
    ? { parameters: parameters(name, operation, schemas) }
    : { requestBody: requestBody(name, operation, schemas) }),
  responses: {
    '200': successOf(name, operation, schemas),
    ...Object.fromEntries(
      codesByStatus(operation, method).map(([status, codes]) => [
        status,
        { $ref: `#/components/responses/${refusedName(codes)}` },
      ]),
    ),
  },
});

const pathItems = (name: string, operation: Operation, schemas: Schemas) =>
  operation.paths.map((path) => [
    path,
    Object.fromEntries(
      operation.methods.map((method) => [method.toLowerCase(), methodItem(name, operation, method, path, schemas)]),
    ),
  ]);

const tags = [
  { name: 'Event', description: 'What users and contacts did: logging it, reading it back, counting it.' },
  { name: 'Report', description: 'What people did, counted over all events of a range.' },
  { name: 'Contact', description: 'People, and which browsers are theirs.' },
  { name: 'User', description: 'Browsers: one userUUID on several domains of a customer.' },
  { name: 'Account', description: 'The account, its catalogues, its tokens and its audit log.' },
];

const description = `Every request names a token: as \`Authorization: Bearer\`, or as the field \`tokenUUID\`. Every response is a JSON object with
\`status\`, the HTTP status as a string. An error adds \`error\` and \`requestID\`.

In a request, null and "" count as an absent field, but where a field says what null does. Times are ISO 8601 with an offset, or milliseconds
since 1970; in responses they are ISO 8601 in UTC. A write lists the fields that it doesn't know in \`ignored\`; a read with an unknown
parameter is refused.`;

/** The OpenAPI 3.1 document. `server` is the base URL of all paths. */
export const openAPI = ({ server }: { server: string }): Json => {
  const schemas = allSchemas();
  const sets = allOperations.flatMap(([, operation]) =>
    operation.methods.flatMap((method) => codesByStatus(operation, method).map(([, codes]) => codes)),
  );
  const byName = Object.fromEntries(sets.map((codes) => [refusedName(codes), codes]));
  const { Error: error = {} } = jsonSchemas({ Error: errorAnswer }, 'output');
  return {
    openapi: '3.1.0',
    info: {
      title: 'Firsthand',
      version: '1',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: server }],
    tags,
    security: [{ bearer: [] }, { tokenUUID: [] }],
    paths: Object.fromEntries(allOperations.flatMap(([name, operation]) => pathItems(name, operation, schemas))),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The token, in the header `Authorization`.' },
        tokenUUID: {
          type: 'apiKey',
          in: 'query',
          name: 'tokenUUID',
          description: 'The token, as a field of the query string. In a POST it may also be a field of the body.',
        },
      },
      headers: {
        'X-Request-Id': {
          description: 'Names the request in the log of the service.',
          schema: { type: 'string' },
          example: 'q3VnX8bT0zRk5yWcJ1LsA',
        },
        'Retry-After': {
          description: 'The seconds after which to try again.',
          schema: { type: 'integer', minimum: 0 },
          example: 1,
        },
      },
      schemas: schemas.components,
      responses: Object.fromEntries(Object.entries(byName).map(([name, codes]) => [name, refused(codes, error)])),
    },
  };
};
