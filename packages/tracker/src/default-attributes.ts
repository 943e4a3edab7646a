import { demand, guard } from './guard.ts';
import type { Attributes, AttributeValue } from './records/attributes.ts';
import type { Tracker } from './tracker.ts';

/**
 * Adds the method `set` to a tracker; `beforeSend` gets the merged attributes, in the form (object or array) that was
 * passed to `log`. If one of the page's getters throws during the merge, the event is logged without defaults.
 */
export const addSetMethod = (tracker: Tracker): void => {
  const defaults: Record<string, AttributeValue> = {};
  const { log } = tracker;

  const merge = guard((input: Attributes | undefined): Attributes => {
    const attrs = Object(input) === input ? (input as Attributes) : { value: input as AttributeValue };
    return Array.isArray(attrs)
      ? [
          ...attrs,
          ...Object.keys(defaults)
            .filter((attrID) => !attrs.some((own) => own.attrID === attrID))
            .map((attrID) => ({ attrID, attrValue: defaults[attrID] })),
        ]
      : // The event's own attributes come first, because a record holds at most 100.
        { ...attrs, ...defaults, ...attrs };
  });

  tracker.log = ((event: number | string, attrs?: Attributes) => log(event, merge(attrs) || attrs)) as Tracker['log'];
  tracker.set = guard((attrs: object) => {
    demand(Object(attrs) === attrs && !Array.isArray(attrs), 'no attributes');
    Object.assign(defaults, attrs);
  });
};
