import { guard } from '../guard.ts';
import type { Tracker } from '../tracker.ts';
import { callOn } from './elements.ts';

/**
 * Returns an element's `data-attr-*` values, keyed by the part of the name after `data-attr-`, which HTML lowercases.
 */
const attrsOf = (element: Element): Record<string, string> => {
  const attrs: Record<string, string> = {};
  for (const { name, value } of Reflect.get(Element.prototype, 'attributes', element))
    if (/^data-attr-/.test(name)) attrs[name.slice(10)] = value;
  return attrs;
};

/**
 * Logs clicks with the main and middle buttons on `data-log` elements, outbound links and downloads, depending on the
 * tag's attributes. Listens in the capture phase, because pages may stop the propagation of a click.
 */
export const logClicks = (tracker: Tracker, options: DOMStringMap): void => {
  const logClick = guard(({ target, button }: MouseEvent): void => {
    if (button > 1) return;
    const logElement = 'clicks' in options && callOn(target, 'closest', '[data-log]');
    if (logElement) tracker.log(callOn(logElement, 'getAttribute', 'data-log') as string, attrsOf(logElement));
    // SVG links and links without an href have no protocol.
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
