import { expect, test } from 'vitest';
import { describeGuide, type GuideSite, openGuideSite } from '../../tools/guide-site.ts';

/** Returns the guide's policies and tags: with a hash, and with a nonce. The third tag has no inline script. */
const partsOf = (site: GuideSite) => {
  const policies = site.blocks('http').map((block) => block.trim().replace('Content-Security-Policy: ', ''));
  return { policies, tags: site.blocks('html') };
};

/** Opens a page with this tag and policy. Returns the violated directives. */
const visit = async (site: GuideSite, tag: string, policy: string, body = ''): Promise<readonly string[]> => {
  const violations: string[] = [];
  await site.context.exposeFunction('noteViolation', (directive: string) => void violations.push(directive));
  await site.context.addInitScript(
    `addEventListener('securitypolicyviolation', ({ effectiveDirective }) => noteViolation(effectiveDirective))`,
  );
  site.publish('/', `<!doctype html><head><title>A shop</title>${tag}<body>${body}`, {
    'Content-Security-Policy': policy,
  });
  await site.open('/');
  return violations;
};

/** Publishes a script that logs an event and creates a contact. Returns its element, with the tag's nonce. */
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
  ])('shows the actual output for policy %i, %s', async (nth) => {
    const site = await openGuideSite('csp.md');
    const { policies, tags } = partsOf(site);
    const violations = await visit(site, tags[nth] as string, policies[nth] as string);
    await site.expectPrinted();
    expect(violations).toEqual([]);
  });

  test.each([
    [0, 'with the hash'],
    [1, 'with a nonce'],
  ])('receives everything with policy %i, %s, without violations', async (nth) => {
    const site = await openGuideSite('csp.md');
    const { policies, tags } = partsOf(site);
    const tag = tags[nth] as string;
    const violations = await visit(site, tag, policies[nth] as string, publishOwnScript(site, tag));
    await expect.poll(() => site.api.searchContact({})).toMatchObject({ contact: [expect.anything()] });
    await expect.poll(() => eventNames(site)).toEqual(['Bought', 'Page viewed']);
    expect(await site.cookie()).toBeDefined();
    expect(violations).toEqual([]);
  });

  test.each([
    [0, / 'sha256-[^']+'/, 'script-src-elem'],
    [0, / 'self'/, 'script-src-elem'],
    [0, / connect-src 'self';/, 'connect-src'],
    [1, / script-src 'nonce-NONCE';/, 'script-src-elem'],
    [1, / connect-src 'self';/, 'connect-src'],
  ])('needs, in policy %i, the part%s: without it, %s is violated', async (nth, part, directive) => {
    const site = await openGuideSite('csp.md');
    const { policies, tags } = partsOf(site);
    const policy = policies[nth] as string;
    expect(policy).toMatch(part);
    const violations = await visit(site, tags[nth] as string, policy.replace(part, ''));
    await expect.poll(() => violations).toContain(directive);
  });

  test('logs page views without an inline script', async () => {
    const site = await openGuideSite('csp.md');
    const { policies, tags } = partsOf(site);
    const policy = policies[0]?.replace(/ 'sha256-[^']+'/, '') as string;
    const violations = await visit(site, tags[2] as string, policy);
    await site.expectPrinted();
    expect(violations).toEqual([]);
  });

  test('works with another host in both directives', async () => {
    const site = await openGuideSite('csp.md');
    const { policies, tags } = partsOf(site);
    // Uses the same server under another name, which is a different host for the browser.
    const other = site.origin.replace('127.0.0.1', 'localhost');
    const tag = tags[0]?.replace(site.origin, other) as string;
    const policy = policies[0]?.replaceAll("'self'", other) as string;
    // Allows the page's own script, which still comes from the page's own host.
    const withOwn = policy.replace('script-src', `script-src ${site.origin}/shop.js`);
    const violations = await visit(site, tag, withOwn, publishOwnScript(site, tag));
    await expect.poll(() => eventNames(site)).toEqual(['Bought', 'Page viewed']);
    expect(violations).toEqual([]);
  });
});
