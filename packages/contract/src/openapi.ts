/** The OpenAPI 3.1 document, made from the operations table. */
import * as z from 'zod';
import { errorAnswer } from './answer.ts';
import { type ErrorCode, errors } from './errors.ts';
import { type Operation, operations } from './operations.ts';

type Json = Record<string, unknown>;

/** The JSON Schema of a schema's output, which is also the form of input that needs no coercion. Other members are allowed. */
const jsonSchema = (schema: z.ZodType): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'output',
    unrepresentable: 'any',
    override: ({ jsonSchema: made }) => {
      delete made.additionalProperties;
    },
  });
  return rest;
};

const tokenUUID = { type: 'string', description: 'The token; or send it as Authorization: Bearer.' };

interface ObjectSchema {
  properties: Json;
  required?: string[];
}

const inputSchema = ({ input, entries = {} }: Operation): ObjectSchema => {
  const { properties = {}, required } = jsonSchema(input) as Partial<ObjectSchema>;
  for (const [name, entry] of Object.entries(entries)) {
    properties[name] = { ...(properties[name] as Json), items: jsonSchema(entry) };
  }
  return { properties: { tokenUUID, ...properties }, ...(required && { required }) };
};

/** The parameters of a query string, in which a list is sent as its JSON text. */
const parameters = ({ properties, required = [] }: ObjectSchema) =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...((schema as Json).type === 'array' ? { content: { 'application/json': { schema } } } : { schema }),
  }));

const bodyTypes = ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'];
const requestBody = (schema: ObjectSchema) => ({
  content: Object.fromEntries(bodyTypes.map((type) => [type, { schema: { type: 'object', ...schema } }])),
});

const refused = () => ({
  description: (Object.entries(errors) as [ErrorCode, (typeof errors)[ErrorCode]][])
    .map(([code, { status, when }]) => `- ${status} \`${code}\`: ${when}`)
    .join('\n'),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
});

const responseOf = ({ output, stream }: Operation) => ({
  description: stream
    ? 'Server-sent events, each with one of these as its data. An event of the type `error`, with an Error as its data, ends the stream.'
    : 'Success: every change is stored.',
  content: { [stream ? 'text/event-stream' : 'application/json']: { schema: jsonSchema(output) } },
});

const methodItem = (name: string, operation: Operation, method: string, path: string, first: boolean) => {
  const schema = inputSchema(operation);
  return {
    // An operationId must be unique: one for each method of each path.
    operationId: first ? name : `${name} ${method} ${path}`,
    summary: operation.summary,
    description: `For a token of kind ${operation.tokens.join(' or ')}.`,
    ...(method === 'GET' ? { parameters: parameters(schema) } : { requestBody: requestBody(schema) }),
    responses: { '200': responseOf(operation), default: { $ref: '#/components/responses/Refused' } },
  };
};

const pathItems = (name: string, operation: Operation) =>
  operation.paths.map((path, pathIndex) => [
    path,
    Object.fromEntries(
      operation.methods.map((method, methodIndex) => [
        method.toLowerCase(),
        methodItem(name, operation, method, path, pathIndex + methodIndex === 0),
      ]),
    ),
  ]);

/** The OpenAPI 3.1 document. `server` is the base URL of all paths. */
export const openAPI = ({ server }: { server: string }): Json => ({
  openapi: '3.1.0',
  info: { title: 'Firsthand', version: '1' },
  servers: [{ url: server }],
  security: [{ tokenUUID: [] }, { bearer: [] }],
  paths: Object.fromEntries(Object.entries(operations).flatMap(([name, operation]) => pathItems(name, operation))),
  components: {
    securitySchemes: {
      tokenUUID: { type: 'apiKey', in: 'query', name: 'tokenUUID' },
      bearer: { type: 'http', scheme: 'bearer' },
    },
    schemas: { Error: jsonSchema(errorAnswer) },
    responses: { Refused: refused() },
  },
});
