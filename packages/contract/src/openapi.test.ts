import { describe, expect, it } from 'vitest';
import { errors } from './errors.ts';
import { openAPI } from './openapi.ts';
import { operationNames, operations } from './operations.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked through.
const document = openAPI({ server: '/x' }) as any;
const properties = (path: string) =>
  document.paths[path].post.requestBody.content['application/json'].schema.properties;

describe('the OpenAPI document', () => {
  it('lists every path and method of the table, and no other', () => {
    const listed = Object.entries<object>(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const expected = operationNames.flatMap((name) =>
      operations[name].paths.flatMap((path) => operations[name].methods.map((method) => `${method} ${path}`)),
    );
    expect(listed.toSorted()).toEqual(expected.toSorted());
    expect([document.openapi, document.servers]).toEqual(['3.1.0', [{ url: '/x' }]]);
  });

  it('gives each an operationId of its own, and the plain name to the one to use', () => {
    const ids = Object.values<object>(document.paths).flatMap((item) =>
      Object.values<{ operationId: string }>(item as never).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(operationNames));
  });

  it('says what fields are needed, and their form', () => {
    const { schema } = document.paths['/createContact'].post.requestBody.content['text/plain'];
    expect(schema.required).toEqual(['userUUID', 'contactEmailaddress', 'contactProfileID']);
    expect(schema.properties.contactEmailaddress).toMatchObject({ type: 'string', maxLength: 254 });
    expect(schema.properties.tokenUUID.type).toBe('string');
    const parameters = document.paths['/logEvent'].get.parameters;
    const eventID = parameters.find(({ name }: { name: string }) => name === 'eventID');
    expect(eventID).toMatchObject({ in: 'query', required: false, schema: { type: 'integer', minimum: 1 } });
  });

  it('says what the entries are that are checked one by one', () => {
    expect(properties('/event/logEvents').event.items.properties.eventID.type).toBe('integer');
    expect(properties('/event/logEvents').event.items.properties.eventName).toMatchObject({ maxLength: 255 });
    expect(properties('/account/createAccount').contact.items.properties.contactEmailaddress.type).toBe('string');
  });

  it('shows answers, streams and every error', () => {
    const answer = document.paths['/contact/getContact'].get.responses['200'].content['application/json'].schema;
    expect(answer.properties.contact.properties.tag.items.required).toEqual(['tagID', 'tagName', 'opt']);
    expect(document.paths['/event/streamEvents'].get.responses['200'].content).toHaveProperty('text/event-stream');
    for (const code of Object.keys(errors)) expect(document.components.responses.Refused.description).toContain(code);
  });

  it.each([
    ['/event/logEvents', 'event'],
    ['/account/createAccount', 'contact'],
    ['/account/updateAccount', 'contact'],
  ])('shows the error of a single entry: %s', (path, list) => {
    const answer = document.paths[path].post.responses['200'].content['application/json'].schema;
    const { error } = answer.properties[list].items.properties;
    expect(error.required).toEqual(['code', 'message']);
    expect(error.properties.code.enum).toEqual(Object.keys(errors));
  });

  it('is plain JSON', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
    expect(JSON.stringify(document)).not.toContain('additionalProperties');
  });
});
