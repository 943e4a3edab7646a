/** The OpenAPI 3.1 document, generated from the operations table. */

import * as contact from './contact.ts';
import { exampleOf, exampleWith, type JSONSchema, refTo, toJSONSchemas } from './document/json-schemas.ts';
import { listErrorCodes } from './document/operation-errors.ts';
import { type ErrorCode, errors } from './errors.ts';
import * as event from './event.ts';
import { importedContact } from './import.ts';
import { type Operation, type OperationName, operationNames, operations } from './operations.ts';
import { condition } from './reports/filter.ts';
import { errorBody, problem } from './response.ts';

type Json = Record<string, unknown>;
type Method = Operation['methods'][number];

/** `logEvent` → `LogEvent`, `/event/logEvent` → `EventLogEvent`, `unknown_id` → `UnknownId` */
const pascal = (text: string) =>
  text.replace(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Named schemas that several requests share. */
const requestParts = {
  AccountContact: contact.accountContact,
  BatchContact: contact.batchContact,
  BatchEvent: event.batchEvent,
  Filter: condition,
  ImportedContact: importedContact,
};
/** Named schemas that several responses share. */
const responseParts = {
  Contact: contact.contact,
  Claim: contact.claim,
  Link: contact.link,
  Event: event.event,
  EventDefinition: event.eventDefinition,
  Problem: problem,
};

const tokenUUID = {
  type: 'string',
  description: 'The token. Prefer the header `Authorization: Bearer`, which keeps it out of URLs.',
  examples: ['browser_4kQwYb5rEv7uJc1LzT8nX2'],
};

const allOperations = operationNames.map((name): [OperationName, Operation] => [name, operations[name]]);
const requestName = (name: string) => `${pascal(name)}Request`;
const responseName = (name: string, { stream }: Operation) => (stream ? 'Event' : `${pascal(name)}Response`);

/** A request's schema, including the token and the lists whose entries are checked one by one. */
const withEntries = ({ entries = {} }: Operation, schema: JSONSchema): JSONSchema => {
  const properties = { tokenUUID, ...schema.properties };
  const named = Object.entries(requestParts);
  for (const [list, entry] of Object.entries(entries)) {
    const [name] = named.find(([, part]) => part === entry) ?? [];
    if (name === undefined) throw new Error(`the entries of ${list} need a named schema in requestParts`);
    Object.assign(properties, { [list]: { ...schema.properties?.[list], items: refTo(name) } });
  }
  return { ...schema, properties };
};

interface Schemas {
  readonly requests: Readonly<Record<string, JSONSchema>>;
  readonly components: Readonly<Record<string, JSONSchema>>;
}

const allSchemas = (): Schemas => {
  const inputSchemas = toJSONSchemas(
    { ...requestParts, ...Object.fromEntries(allOperations.map(([name, { input }]) => [requestName(name), input])) },
    'input',
  );
  const requests = Object.fromEntries(
    allOperations.map(([name, operation]) => [name, withEntries(operation, inputSchemas[requestName(name)] ?? {})]),
  );
  const plainOperations = allOperations.filter(([, { stream }]) => !stream);
  const responses = toJSONSchemas(
    {
      ...responseParts,
      ...Object.fromEntries(
        plainOperations.map(([name, operation]) => [responseName(name, operation), operation.output]),
      ),
    },
    'output',
  );
  const bodies = allOperations.filter(([, { methods }]) => methods.includes('POST'));
  const components = {
    ...Object.fromEntries(Object.keys(requestParts).map((name) => [name, inputSchemas[name] ?? {}])),
    ...Object.fromEntries(bodies.map(([name]) => [requestName(name), requests[name] ?? {}])),
    ...responses,
  };
  return { requests, components };
};

/** A request's example: its required fields, and those that the operations table lists. */
const requestExample = (name: string, { example = [] }: Operation, { requests, components }: Schemas) => {
  const { required = [] } = requests[name] ?? {};
  return exampleWith(
    requests[name] ?? {},
    [...required, ...example.filter((field) => !required.includes(field))],
    components,
  );
};

/** A parameter's form in query strings: comma-separated words; any other list or object is JSON text. */
const parameterForm = (schema: JSONSchema, example: unknown) => {
  const withExample = example === undefined ? {} : { example };
  if (schema.items?.enum) return { style: 'form', explode: false, schema, ...withExample };
  if (schema.type !== 'array' && schema.$ref === undefined) return { schema, ...withExample };
  return { content: { 'application/json': { schema, ...withExample } } };
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

/** All these types carry the same fields. Browsers send the last three without a CORS preflight request. */
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
          'Server-sent events whose data is one object of this schema. The first event has no data, only the `id` at which the stream starts. An event of type `error`, whose data is the body of an error response, ends the stream.',
        headers,
        content: { 'text/event-stream': { schema } },
      }
    : {
        description: 'Success. All changes are stored.',
        headers,
        content: {
          'application/json': { schema, example: exampleOf(schema, components) },
          ...(operation.csv && {
            'text/csv': { schema: { type: 'string' } },
            'application/x-ndjson': { schema: { type: 'string' } },
          }),
        },
      };
};

const headers = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };
const retryHeaders = { ...headers, 'Retry-After': { $ref: '#/components/headers/Retry-After' } };

/** The response name for these codes: `UnknownContact`, `EmailTakenOrMergeRefused` */
const errorResponseName = (codes: readonly ErrorCode[]) => codes.map(pascal).join('Or');

/** The error response for these codes, which share a status. `anyError` is the schema of all error responses. */
const errorResponse = (codes: readonly ErrorCode[], anyError: JSONSchema) => {
  const [first] = codes as [ErrorCode];
  const status = String(errors[first].status);
  const error = anyError.properties?.error ?? {};
  const code = { ...error.properties?.code, enum: codes, examples: [first] };
  const message = { ...error.properties?.message, examples: [errors[first].when] };
  const properties = {
    ...anyError.properties,
    error: {
      ...error,
      description: 'Why the request was rejected.',
      properties: { ...error.properties, code, message },
    },
    status: { ...anyError.properties?.status, const: status, examples: [status] },
  };
  const schema = { ...anyError, properties };
  return {
    description: codes.map((code) => `- \`${code}\`: ${errors[code].when}`).join('\n'),
    headers: status === '429' || status === '503' ? retryHeaders : headers,
    content: { 'application/json': { schema, example: exampleOf(schema, {}) } },
  };
};

/** The error codes that an operation may return, by status. */
const codesByStatus = (operation: Operation, method: Method): [status: string, codes: ErrorCode[]][] => {
  const byStatus = new Map<string, ErrorCode[]>();
  for (const code of listErrorCodes(operation, method)) {
    const status = String(errors[code].status);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus];
};

/**
 * A unique identifier: for the first method of the first path, the operation's name. Other methods append `ByGet`,
 * other paths `At` and the path: `logEventByGetAtLogEvent`.
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
      `With the header \`Accept: text/csv\` or \`application/x-ndjson\`, the response is a file with all entries of \`${csv.list}\`, as CSV or as one JSON object per line, without \`limit\` or a cursor. If the service cannot complete the file, it aborts the connection.`,
    `Requires a token of kind ${tokens.join(' or ')}.`,
    (method !== methods[0] || path !== paths[0]) && `Same as \`${name}\`.`,
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
        { $ref: `#/components/responses/${errorResponseName(codes)}` },
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
  { name: 'Event', description: 'Logging, reading and counting what users and contacts do.' },
  { name: 'Report', description: 'Counting what people did, over all events in a range.' },
  { name: 'Contact', description: 'People, and the browsers that belong to them.' },
  { name: 'Import', description: 'Event and contact files, whose data can be removed together.' },
  { name: 'Webhook', description: 'Sending events and contact changes to other systems.' },
  { name: 'Notification', description: 'Digests of reports and alerts, sent to members by mail.' },
  { name: 'User', description: 'Browsers: sharing a userUUID across several domains.' },
  { name: 'Account', description: 'The account, its catalogues, its tokens and its audit log.' },
];

const description = `Every request needs a token, as \`Authorization: Bearer\` or in the field \`tokenUUID\`. Every response is a JSON object with
\`status\`, the HTTP status as a string. An error response also has \`error\` and \`requestID\`.

In a request, null and "" mean that a field is absent, unless its description gives null another meaning. Times are ISO 8601 with an
offset, or milliseconds since 1970; in responses they are ISO 8601 in UTC. A write ignores unknown fields and lists them in
\`ignored\`; a read with an unknown parameter is rejected.`;

/** The OpenAPI 3.1 document. `server` is the base URL of all paths. */
export const openAPI = ({ server }: { server: string }): Json => {
  const schemas = allSchemas();
  const codeSets = allOperations.flatMap(([, operation]) =>
    operation.methods.flatMap((method) => codesByStatus(operation, method).map(([, codes]) => codes)),
  );
  const byName = Object.fromEntries(codeSets.map((codes) => [errorResponseName(codes), codes]));
  const { Error: error = {} } = toJSONSchemas({ Error: errorBody }, 'output');
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
          description: 'The token, as a query parameter. In a POST request it may also be a field of the body.',
        },
      },
      headers: {
        'X-Request-Id': {
          description: "Identifies the request in the service's log.",
          schema: { type: 'string' },
          example: 'q3VnX8bT0zRk5yWcJ1LsA',
        },
        'Retry-After': {
          description: 'The number of seconds to wait before trying again.',
          schema: { type: 'integer', minimum: 0 },
          example: 1,
        },
      },
      schemas: schemas.components,
      responses: Object.fromEntries(Object.entries(byName).map(([name, codes]) => [name, errorResponse(codes, error)])),
    },
  };
};
