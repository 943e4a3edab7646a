import { callOn } from './elements.ts';
import { guard } from './guard.ts';
import type { Tracker } from './tracker.ts';

/** `data-attr-*` of an element by what follows `data-attr-`, in small letters, as HTML reads it. */
const attrsOf = (element: Element): Record<string, string> => {
  const attrs: Record<string, string> = {};
  for (const { name, value } of Reflect.get(Element.prototype, 'attributes', element))
    if (/^data-attr-/.test(name)) attrs[name.slice(10)] = value;
  return attrs;
};

/**
 * Logs clicks of the main and the middle button: on what has `data-log="<eventID>"`, with its `data-attr-*`, if the tag has
 * `data-clicks`; on links to other sites and on downloads, as the eventIDs that the tag gives them. Seen while the click
 * goes down to its element, so that a page that stops it doesn't hide it.
 */
export const logClicks = (tracker: Tracker, options: DOMStringMap): void => {
  const logClick = guard(({ target, button }: MouseEvent): void => {
    if (button > 1) return;
    const logged = 'clicks' in options && callOn(target, 'closest', '[data-log]');
    if (logged) tracker.log(callOn(logged, 'getAttribute', 'data-log') as string, attrsOf(logged));
    // A link of SVG, or without an href, has no protocol.
    const link = callOn(target, 'closest', 'a') as HTMLAnchorElement | null;
    if (!link || !/^http/.test(link.protocol)) return;
    const isDownload =
      link.hasAttribute('download') || /\.(pdf|zip|docx?|xlsx?|pptx?|csv|dmg|exe)$/i.test(link.pathname);
    const eventID = isDownload ? options.downloads : link.host !== location.host && options.outbound;
    if (eventID) tracker.log(eventID, { url: link.origin + link.pathname });
  });
  addEventListener('click', logClick, true);
  addEventListener('auxclick', logClick, true);
};
