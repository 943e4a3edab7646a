import { expect, test } from 'vitest';
import { describeGuide, type GuideSite, openGuideSite } from '../../tools/guide-site.ts';

interface Tag {
  /** The dataLayer event that fires it. */
  readonly trigger: string;
  readonly html: string;
}

/**
 * A stand-in for a Tag Manager container. It inserts a tag's HTML for each dataLayer event that fires it, including
 * earlier ones. Like Tag Manager, it recreates scripts with only their `src` attribute, and replaces `{{name}}` with
 * the value in the dataLayer.
 */
const container = (tags: readonly Tag[]): string => `
  (function () {
    var values = {};
    self.valueOf_ = function (name) { return values[name]; };
    var insert = function (html) {
      var holder = document.createElement('div');
      holder.innerHTML = html.replace(/{{(\\w+)}}/g, 'valueOf_("$1")');
      [].slice.call(holder.childNodes).forEach(function (node) {
        var made = node;
        if (node.nodeName === 'SCRIPT') {
          made = document.createElement('script');
          if (node.src) made.src = node.src;
          made.text = node.text;
        }
        document.body.appendChild(made);
      });
    };
    var take = function (pushed) {
      for (var name in pushed) values[name] = pushed[name];
      ${JSON.stringify(tags)}.forEach(function (tag) {
        if (tag.trigger === pushed.event) insert(tag.html);
      });
    };
    var push = dataLayer.push;
    dataLayer.push = function (pushed) { push.call(dataLayer, pushed); take(pushed); };
    take({ event: 'gtm.init' });
    dataLayer.slice().forEach(take);
  })();`;

const publish = (site: GuideSite, tags: readonly Tag[], early = '') => {
  site.publish('/container.js', container(tags));
  site.publish(
    '/',
    `<!doctype html><title>A shop</title><script>dataLayer = [];${early}</script><script async src="/container.js"></script>`,
  );
};

const tagsOf = (site: GuideSite): Tag[] => {
  const [tracker = '', bought = ''] = site.blocks('html');
  return [
    { trigger: 'gtm.init', html: tracker },
    { trigger: 'purchase', html: bought },
  ];
};

describeGuide('tag-manager.md', () => {
  test('logs page views, and dataLayer events with their values', async () => {
    const site = await openGuideSite('tag-manager.md');
    publish(site, tagsOf(site));
    const page = await site.open('/');
    await expect.poll(() => site.requests).toContain('POST /s/update');
    await page.evaluate(site.blocks('js')[0] as string);
    await site.expectPrinted();
  });

  test('loses no events pushed before the tracker or Tag Manager has loaded', async () => {
    const site = await openGuideSite('tag-manager.md');
    publish(site, tagsOf(site), site.blocks('js')[0]);
    await site.open('/');
    await expect
      .poll(async () => (await site.api.getEvent({})).event.map(({ eventName }) => eventName).toSorted())
      .toEqual(['Bought', 'Page viewed']);
  });

  test('makes the tracker wait for consent', async () => {
    const site = await openGuideSite('tag-manager.md');
    const tags = tagsOf(site).map(({ trigger, html }) => ({
      trigger,
      html: html.replace("script.setAttribute('data-token'", "script.setAttribute('data-consent', 'required'); $&"),
    }));
    publish(site, [...tags, { trigger: 'consent', html: '<script>tracker.consent(true)</script>' }]);
    const page = await site.open('/');
    await page.evaluate(site.blocks('js')[0] as string);
    await expect.poll(() => site.requests).toEqual(['GET /s/main.full.js']);
    expect(await site.cookie()).toBeUndefined();
    await page.evaluate("dataLayer.push({ event: 'consent' })");
    await site.expectPrinted();
  });

  test('keeps a tracker that is already in the page', async () => {
    const site = await openGuideSite('tag-manager.md');
    const tags = tagsOf(site);
    publish(site, [...tags, { trigger: 'gtm.init', html: tags[0]?.html as string }]);
    const page = await site.open('/');
    await expect.poll(() => site.requests).toContain('POST /s/update');
    await page.evaluate(site.blocks('js')[0] as string);
    await site.expectPrinted();
    expect(site.requests.filter((request) => request === 'GET /s/main.full.js')).toHaveLength(1);
  });

  test('uses no JavaScript newer than ES5 in its tags, which Tag Manager rejects', async () => {
    const site = await openGuideSite('tag-manager.md');
    for (const html of site.blocks('html')) expect(html).not.toMatch(/=>|`|\.\.\.|\b(?:const|let|class|async|of)\b/);
  });
});
