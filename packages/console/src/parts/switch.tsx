/** A switch: a checkbox whose change takes effect at once. */

interface SwitchProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly isDisabled?: boolean;
  /** The ID of the text that explains it. */
  readonly explainedBy?: string;
  readonly change: (isOn: boolean) => unknown;
}

export const Switch = ({ label, isOn, isDisabled = false, explainedBy, change }: SwitchProps) => (
  <input
    type="checkbox"
    // biome-ignore lint/a11y/useAriaPropsForRole: a checkbox says itself whether it is on (ARIA in HTML forbids aria-checked here).
    role="switch"
    class="switch"
    aria-label={label}
    aria-describedby={explainedBy}
    checked={isOn}
    disabled={isDisabled}
    onChange={(event) => change(event.currentTarget.checked)}
  />
);
