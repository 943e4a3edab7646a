import { demand, guard } from './guard.ts';
import type { Attributes, AttributeValue } from './records/attributes.ts';
import type { Tracker } from './tracker.ts';

/**
 * Gives a tracker the method `set`. `beforeSend` gets the merged attributes, in the form in which the event was logged. If they can't be
 * merged, because a getter of the page throws, the event is logged without defaults.
 */
export const addSet = (tracker: Tracker): void => {
  const defaults: Record<string, AttributeValue> = {};
  const { log } = tracker;

  const merge = guard((given: Attributes | undefined): Attributes => {
    const attrs = Object(given) === given ? (given as Attributes) : { value: given as AttributeValue };
    return Array.isArray(attrs)
      ? [
          ...attrs,
          ...Object.keys(defaults)
            .filter((attrID) => !attrs.some((own) => own.attrID === attrID))
            .map((attrID) => ({ attrID, attrValue: defaults[attrID] })),
        ]
      : // The event's own come first, because a record takes no more than 100.
        { ...attrs, ...defaults, ...attrs };
  });

  tracker.log = ((event: number | string, attrs?: Attributes) => log(event, merge(attrs) || attrs)) as Tracker['log'];
  tracker.set = guard((attrs: object) => {
    demand(Object(attrs) === attrs && !Array.isArray(attrs), 'no attributes');
    Object.assign(defaults, attrs);
  });
};
