import { expect, test } from 'vitest';
import { describeGuide, type GuideSite, openGuideSite } from '../../tools/guide-site.ts';

/** The policies of the guide and the tags below them: with a hash, with a nonce; a tag without an inline script is the third. */
const partsOf = (site: GuideSite) => {
  const policies = site.blocks('http').map((block) => block.trim().replace('Content-Security-Policy: ', ''));
  return { policies, tags: site.blocks('html') };
};

/** Opens a page that has this tag and policy. Returns the directives that are violated. */
const visit = async (site: GuideSite, tag: string, policy: string, body = ''): Promise<readonly string[]> => {
  const violated: string[] = [];
  await site.context.exposeFunction('noteViolation', (directive: string) => void violated.push(directive));
  await site.context.addInitScript(
    `addEventListener('securitypolicyviolation', ({ effectiveDirective }) => noteViolation(effectiveDirective))`,
  );
  site.publish('/', `<!doctype html><head><title>A shop</title>${tag}<body>${body}`, {
    'Content-Security-Policy': policy,
  });
  await site.open('/');
  return violated;
};

/** The element of a script of the page itself, which logs and creates a contact. It carries the tag's nonce. */
const publishOwnScript = (site: GuideSite, tag: string): string => {
  site.publish(
    '/shop.js',
    `tracker.log('Bought', { price: 48 });
     tracker.createContact({ contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' });`,
  );
  return `<script${/ nonce="\w+"/.exec(tag)?.[0] ?? ''} src="/shop.js"></script>`;
};

const eventNames = async ({ api }: GuideSite) =>
  (await api.getEvent({})).event.map(({ eventName }) => eventName).toSorted();

describeGuide('csp.md', () => {
  test.each([
    [0, 'with the hash'],
    [1, 'with a nonce'],
  ])('policy %i, %s, leads to what the guide shows', async (nth) => {
    const site = await openGuideSite('csp.md');
    const { policies, tags } = partsOf(site);
    const violated = await visit(site, tags[nth] as string, policies[nth] as string);
    await site.expectPrinted();
    expect(violated).toEqual([]);
  });

  test.each([
    [0, 'with the hash'],
    [1, 'with a nonce'],
  ])('policy %i, %s, violates nothing, and everything arrives', async (nth) => {
    const site = await openGuideSite('csp.md');
    const { policies, tags } = partsOf(site);
    const tag = tags[nth] as string;
    const violated = await visit(site, tag, policies[nth] as string, publishOwnScript(site, tag));
    await expect.poll(() => site.api.searchContact({})).toMatchObject({ contact: [expect.anything()] });
    await expect.poll(() => eventNames(site)).toEqual(['Bought', 'Page viewed']);
    expect(await site.cookie()).toBeDefined();
    expect(violated).toEqual([]);
  });

  test.each([
    [0, / 'sha256-[^']+'/, 'script-src-elem'],
    [0, / 'self'/, 'script-src-elem'],
    [0, / connect-src 'self';/, 'connect-src'],
    [1, / script-src 'nonce-NONCE';/, 'script-src-elem'],
    [1, / connect-src 'self';/, 'connect-src'],
  ])('policy %i without%s violates %s: nothing in it is too much', async (nth, part, directive) => {
    const site = await openGuideSite('csp.md');
    const { policies, tags } = partsOf(site);
    const policy = policies[nth] as string;
    expect(policy).toMatch(part);
    const violated = await visit(site, tags[nth] as string, policy.replace(part, ''));
    await expect.poll(() => violated).toContain(directive);
  });

  test('without an inline script, page views are logged all the same', async () => {
    const site = await openGuideSite('csp.md');
    const { policies, tags } = partsOf(site);
    const policy = policies[0]?.replace(/ 'sha256-[^']+'/, '') as string;
    const violated = await visit(site, tags[2] as string, policy);
    await site.expectPrinted();
    expect(violated).toEqual([]);
  });

  test('names another host in both directives', async () => {
    const site = await openGuideSite('csp.md');
    const { policies, tags } = partsOf(site);
    // The server by another name of this machine: another host for the browser.
    const other = site.origin.replace('127.0.0.1', 'localhost');
    const tag = tags[0]?.replace(site.origin, other) as string;
    const policy = policies[0]?.replaceAll("'self'", other) as string;
    // The page's own script is still from its own host.
    const withOwn = policy.replace('script-src', `script-src ${site.origin}/shop.js`);
    const violated = await visit(site, tag, withOwn, publishOwnScript(site, tag));
    await expect.poll(() => eventNames(site)).toEqual(['Bought', 'Page viewed']);
    expect(violated).toEqual([]);
  });
});
