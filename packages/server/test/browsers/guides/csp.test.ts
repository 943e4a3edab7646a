import { expect, test } from 'vitest';
import { describeGuide, type GuideSite, openGuideSite } from '../../tools/guide-site.ts';

/** The policies of the guide and the tags below them: with a hash, with a nonce; a tag without an inline script is the third. */
const partsOf = (site: GuideSite) => {
  const policies = site.blocks('http').map((block) => block.trim().replace('Content-Security-Policy: ', ''));
  return { policies, tags: site.blocks('html') };
};

/** Opens a page that has this tag and policy, and whose own script logs. Returns the directives that are violated. */
const visit = async (site: GuideSite, tag: string, policy: string): Promise<readonly string[]> => {
  const violated: string[] = [];
  await site.context.exposeFunction('noteViolation', (directive: string) => void violated.push(directive));
  await site.context.addInitScript(
    `addEventListener('securitypolicyviolation', ({ effectiveDirective }) => noteViolation(effectiveDirective))`,
  );
  const own = `<script${/ nonce="\w+"/.exec(tag)?.[0] ?? ''} src="/shop.js"></script>`;
  site.publish('/', `<!doctype html><head><title>A shop</title>${tag}<body>${own}`, {
    'Content-Security-Policy': policy,
  });
  site.publish(
    '/shop.js',
    `if (self.tracker) {
       tracker.log('Bought', { price: 48 });
       tracker.createContact({ contactEmailaddress: 'ann@shop.example', contactProfileID: 'customer' });
     }`,
  );
  await site.open('/');
  return violated;
};

const eventNames = async ({ api }: GuideSite) => (await api.getEvent({})).event.map(({ eventName }) => eventName);

describeGuide('csp.md', () => {
  test.each([
    [0, 'with the hash'],
    [1, 'with a nonce'],
  ])('policy %i, %s, violates nothing, and everything arrives', async (nth) => {
    const site = await openGuideSite('csp.md');
    const { policies, tags } = partsOf(site);
    const violated = await visit(site, tags[nth] as string, policies[nth] as string);
    await expect.poll(() => site.api.searchContact({})).toMatchObject({ contact: [expect.anything()] });
    expect(await eventNames(site)).toEqual(['Bought']);
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
    const violated = await visit(site, tag, policy.replace('script-src', `script-src ${site.origin}/shop.js`));
    await expect.poll(() => eventNames(site)).toEqual(['Bought']);
    expect(violated).toEqual([]);
  });
});
