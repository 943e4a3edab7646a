/** A switch: a checkbox that takes effect immediately. */

interface SwitchProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly isDisabled?: boolean;
  /** The ID of its description. */
  readonly explainedBy?: string;
  readonly change: (isOn: boolean) => unknown;
}

export const Switch = ({ label, isOn, isDisabled = false, explainedBy, change }: SwitchProps) => (
  <input
    type="checkbox"
    // biome-ignore lint/a11y/useAriaPropsForRole: ARIA in HTML forbids aria-checked on a checkbox.
    role="switch"
    class="switch"
    aria-label={label}
    aria-describedby={explainedBy}
    checked={isOn}
    disabled={isDisabled}
    onChange={(event) => change(event.currentTarget.checked)}
  />
);
