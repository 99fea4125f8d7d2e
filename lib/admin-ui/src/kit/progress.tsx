// How far a transfer is: said in words, drawn as a bar.

export interface Step {
  readonly text: string;
  /** 0 to 1; 1: the service works on it. */
  readonly share: number;
}

export function Progress({ step }: { readonly step: Step | null }) {
  return step === null ? null : (
    <div role="status">
      <label class="progress">
        {step.share < 1 ? `Sending, ${Math.round(step.share * 100)} %` : step.text}
        <progress max={1} value={step.share < 1 ? step.share : undefined} />
      </label>
    </div>
  );
}
