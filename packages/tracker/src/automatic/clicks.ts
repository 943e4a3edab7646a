import { guard } from '../guard.ts';
import type { Tracker } from '../tracker.ts';
import { callOn } from './elements.ts';

/** The `data-attr-*` of an element, by the rest of their names, which HTML makes lower case. */
const attrsOf = (element: Element): Record<string, string> => {
  const attrs: Record<string, string> = {};
  for (const { name, value } of Reflect.get(Element.prototype, 'attributes', element))
    if (/^data-attr-/.test(name)) attrs[name.slice(10)] = value;
  return attrs;
};

/**
 * Logs clicks of the main and the middle button: on elements with `data-log="<eventID>"`, with their `data-attr-*`, if the tag has
 * `data-clicks`; on links to other sites and on downloads, with the eventIDs in the tag. It listens in the capture phase, so that
 * pages that stop the propagation of a click don't hide it.
 */
export const logClicks = (tracker: Tracker, options: DOMStringMap): void => {
  const logClick = guard(({ target, button }: MouseEvent): void => {
    if (button > 1) return;
    const logged = 'clicks' in options && callOn(target, 'closest', '[data-log]');
    if (logged) tracker.log(callOn(logged, 'getAttribute', 'data-log') as string, attrsOf(logged));
    // Links in SVG and links without an href have no protocol.
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
