/** The OpenAPI document of the contract, in the form that the reference pages use. */

import { exampleOf, type JSONSchema } from '@firsthand/contract/document/json-schemas';
import { openAPI } from '@firsthand/contract/openapi';
import { type Operation, type OperationName, operationNames, operations } from '@firsthand/contract/operations';

interface MethodItem {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly parameters?: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly description?: string;
    readonly schema?: JSONSchema;
    readonly content?: { readonly 'application/json': { readonly schema: JSONSchema; readonly example?: unknown } };
    readonly example?: unknown;
  }[];
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: JSONSchema; readonly example: unknown } };
  };
  readonly responses: {
    readonly 200: {
      readonly content: Readonly<Record<string, { readonly schema: JSONSchema; readonly example?: unknown }>>;
    };
  };
}

interface Document {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, MethodItem>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JSONSchema>> };
}

export const document = openAPI({ server: '/' }) as unknown as Document;
const { schemas } = document.components;

/** Resolves a `$ref`, keeping its sibling keywords. Other schemas are returned unchanged. */
export const resolve = (schema: JSONSchema): JSONSchema => {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...siblings } = schema;
  return { ...schemas[$ref.split('/').at(-1) ?? ''], ...siblings };
};

export interface Endpoint {
  readonly operationID: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
}

export interface OperationDoc extends Operation {
  readonly name: OperationName;
  /** `Event` */
  readonly noun: string;
  readonly endpoints: readonly Endpoint[];
  /** The request as an object schema, even for query parameters. */
  readonly request: JSONSchema;
  readonly requestExample: Readonly<Record<string, unknown>>;
  readonly response: JSONSchema;
  readonly responseExample: unknown;
}

const requestOf = ({ parameters = [], requestBody }: MethodItem) => {
  if (requestBody) {
    const { schema, example } = requestBody.content['application/json'];
    return { request: resolve(schema), requestExample: example as OperationDoc['requestExample'] };
  }
  const fields = parameters.map(({ name, description, schema, content }): [string, JSONSchema] => [
    name,
    { ...(schema ?? content?.['application/json'].schema), ...(description !== undefined && { description }) },
  ]);
  return {
    request: {
      type: 'object',
      properties: Object.fromEntries(fields),
      required: parameters.filter(({ required }) => required).map(({ name }) => name),
    },
    requestExample: Object.fromEntries(
      parameters.flatMap(({ name, content, example = content?.['application/json'].example }) =>
        example === undefined ? [] : [[name, example]],
      ),
    ),
  };
};

const describe = (name: OperationName): OperationDoc => {
  const operation: Operation = operations[name];
  const endpoints = operation.methods.flatMap((method) =>
    operation.paths.map((path): Endpoint => {
      const { operationId = '' } = document.paths[path]?.[method.toLowerCase()] ?? {};
      return { operationID: operationId, method, path };
    }),
  );
  const item = document.paths[operation.paths[0]]?.[operation.methods[0].toLowerCase()] as MethodItem;
  const [content] = Object.values(item.responses[200].content);
  const response = resolve(content?.schema ?? {});
  return {
    ...operation,
    name,
    noun: item.tags[0],
    endpoints,
    ...requestOf(item),
    response,
    responseExample: content?.example ?? exampleOf(response, schemas),
  };
};

/** All operations, in contract order. */
export const operationDocs: readonly OperationDoc[] = operationNames.map(describe);
