import { describe, expect, it } from 'vitest';
import { type ErrorCode, errors } from './errors.ts';
import { openAPI } from './openapi.ts';
import { type Operation, operationNames, operations } from './operations.ts';

// biome-ignore lint/suspicious/noExplicitAny: the tests traverse an untyped document.
type Any = any;

const document: Any = openAPI({ server: '/x' });
const { schemas, responses } = document.components;
const resolved = (schema: Any): Any => (schema.$ref ? schemas[schema.$ref.split('/').at(-1)] : schema);
const request = (path: string) => resolved(document.paths[path].post.requestBody.content['application/json'].schema);
const response = (path: string, method: string) =>
  resolved(document.paths[path][method].responses['200'].content['application/json'].schema);
const parameter = (path: string, name: string) =>
  document.paths[path].get.parameters.find((parameter: Any) => parameter.name === name);

const allItems: readonly Any[] = Object.values(document.paths).flatMap((item: Any) => Object.values(item));

describe('the OpenAPI document', () => {
  it('lists exactly the paths and methods of the operations table', () => {
    const listed = Object.entries<object>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const expected = operationNames.flatMap((name) =>
      operations[name].paths.flatMap((path) => operations[name].methods.map((method) => `${method} ${path}`)),
    );
    expect(listed.toSorted()).toEqual(expected.toSorted());
    expect([document.openapi, document.servers]).toEqual(['3.1.0', [{ url: '/x' }]]);
  });

  it('gives each method of a path a unique operationId, which for the preferred method is the plain name', () => {
    const ids = allItems.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(operationNames));
    for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z0-9]*$/);
    const { '/logEvent': path } = document.paths;
    expect([path.post.operationId, path.get.operationId]).toEqual(['logEventAtLogEvent', 'logEventByGetAtLogEvent']);
  });

  it('states which fields are required and what format they take', () => {
    const schema = resolved(document.paths['/createContact'].post.requestBody.content['text/plain'].schema);
    expect(schema.required).toEqual(['contactProfileID']);
    expect(schema.properties.contactEmailaddress).toMatchObject({ type: 'string', maxLength: 254 });
    expect(schema.properties.tokenUUID.type).toBe('string');
    expect(parameter('/logEvent', 'eventID')).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 1 },
    });
  });

  it('describes what clients send: times as text or numbers, comma-separated words, values of several types', () => {
    const forms = parameter('/event/getEvent', 'from').schema.anyOf.map(({ type, format }: Any) => format ?? type);
    expect(forms).toEqual(['date-time', 'date', 'integer']);
    expect(parameter('/event/getEvent', 'include')).toMatchObject({ style: 'form', explode: false });
    expect(parameter('/logEvent', 'eventAttrArray').content['application/json'].schema.type).toBe('array');
    const { attrValue } = request('/event/logEvent').properties.eventAttrArray.items.properties;
    expect(attrValue.anyOf.map(({ type }: Any) => type)).toEqual(['string', 'number', 'boolean']);
    const { contactFirstname } = request('/contact/updateContact').properties;
    expect(contactFirstname.anyOf.map(({ type }: Any) => type)).toEqual(['string', 'null']);
  });

  it('states the rule for a field in the words of its error message', () => {
    expect(request('/event/logEvent').properties.userUUID.description).toMatch(
      / Must be 16 to 64 of A-Z a-z 0-9 _ -\.$/,
    );
  });

  it('describes the entries that are checked one by one', () => {
    expect(resolved(request('/event/logEvents').properties.event.items).properties.eventID.type).toBe('integer');
    const contact = resolved(request('/account/createAccount').properties.contact.items);
    expect(contact.properties.contactEmailaddress.type).toBe('string');
  });

  it('describes responses and streams', () => {
    const { contact } = response('/contact/getContact', 'get').properties;
    expect(resolved(contact).properties.tag.items.required).toEqual(['tagID', 'tagName', 'opt']);
    expect(document.paths['/event/streamEvents'].get.responses['200'].content).toHaveProperty('text/event-stream');
  });

  it('lists each operation’s error codes by status, and every code at least once', () => {
    const { '404': unknown, '409': conflict, '429': later } = document.paths['/contact/updateContact'].post.responses;
    const codesIn = ({ $ref }: { $ref: string }) =>
      responses[$ref.split('/').at(-1) ?? ''].content['application/json'].schema.properties.error.properties.code.enum;
    expect([unknown, conflict, later].map(codesIn)).toEqual([
      ['unknown_contact'],
      ['email_taken', 'external_id_taken'],
      ['too_many_requests'],
    ]);
    const listed = new Set(
      allItems.flatMap((item) =>
        Object.values(item.responses)
          .filter((one: Any) => one.$ref)
          .flatMap(codesIn as never),
      ),
    );
    const codesWithoutOperation: ErrorCode[] = ['unknown_operation', 'method_not_allowed'];
    expect([...listed, ...codesWithoutOperation].toSorted()).toEqual(Object.keys(errors).toSorted());
  });

  it.each([
    ['/event/logEvents', 'event'],
    ['/account/createAccount', 'contact'],
    ['/account/updateAccount', 'contact'],
  ])('describes a single entry’s error: %s', (path, list) => {
    const error = response(path, 'post').properties[list].items.properties.error;
    expect(resolved(error).required).toEqual(['code', 'message']);
    expect(resolved(error).properties.code.enum).toEqual(Object.keys(errors));
  });

  it('describes every operation and every field, each with an example', () => {
    const missing: string[] = [];
    const walk = (schema: Any, path: string): void => {
      for (const [name, property] of Object.entries<Any>(schema.properties ?? {})) {
        const at = `${path}.${name}`;
        const description = property.description ?? (property.$ref && 'described at its definition');
        const isComposite = property.$ref || property.items || property.properties || property.additionalProperties;
        if (!description) missing.push(`${at} has no description`);
        if (!isComposite && property.examples === undefined) missing.push(`${at} has no example`);
        walk(property, at);
      }
      if (schema.items) walk(schema.items, `${path}[]`);
    };
    for (const [name, schema] of Object.entries(schemas)) walk(schema, name);
    for (const [name, { content }] of Object.entries<Any>(responses)) walk(content['application/json'].schema, name);
    for (const { operationId, summary, description, tags, parameters = [] } of allItems) {
      if (!summary || !description || tags.length !== 1) missing.push(operationId);
      walk(
        {
          properties: Object.fromEntries(
            parameters.map((one: Any) => [
              one.name,
              { ...one.schema, ...one.content?.['application/json'].schema, ...one },
            ]),
          ),
        },
        operationId,
      );
    }
    expect(missing).toEqual([]);
  });

  it('has examples only of existing fields', () => {
    for (const name of operationNames) {
      const { example = [], input }: Operation = operations[name];
      expect(Object.keys((input as Any).shape)).toEqual(expect.arrayContaining([...example]));
    }
  });

  it('is plain JSON, and allows additional members in every object', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
    expect(JSON.stringify(document)).not.toContain('"additionalProperties":false');
  });
});
