// Small charts as SVG: bars over time. The same figures stand in a table for who cannot see them.
export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The part of the value that is drawn as trouble. */
  readonly bad?: number | undefined;
}

export function Bars(props: { readonly label: string; readonly bars: readonly Bar[]; readonly unit: string }) {
  const most = Math.max(1, ...props.bars.map((bar) => bar.value));
  // A few stand at the right, where the next will come.
  const columns = Math.max(30, props.bars.length);
  const width = 100 / columns;
  const begin = columns - props.bars.length;
  const total = props.bars.reduce((sum, bar) => sum + bar.value, 0);
  return (
    <figure class="chart">
      <figcaption>{props.label}</figcaption>
      <svg viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label={`${props.label}: ${total} ${props.unit}, at most ${most} in one column`}>
        {props.bars.map((bar, index) => {
          const height = (bar.value / most) * 38;
          const bad = ((bar.bad ?? 0) / most) * 38;
          return (
            <g key={index}>
              <title>{`${bar.label}: ${bar.value} ${props.unit}${bar.bad === undefined || bar.bad === 0 ? "" : `, ${bar.bad} failed`}`}</title>
              <rect class="bar-space" x={(begin + index) * width} y={0} width={width} height={40} />
              <rect class="bar" x={(begin + index + 0.1) * width} y={40 - height} width={width * 0.8} height={height} />
              {bad > 0 && <rect class="bar bad" x={(begin + index + 0.1) * width} y={40 - bad} width={width * 0.8} height={bad} />}
            </g>
          );
        })}
      </svg>
      <div class="chart-axis"><span>{props.bars[0]?.label}</span><span>{props.bars.at(-1)?.label}</span></div>
    </figure>
  );
}

/** One figure with its word; `share` (0 to 1) draws how full something is. */
export function Figure(props: { readonly label: string; readonly value: string; readonly note?: string | undefined; readonly share?: number | undefined }) {
  return (
    <div class="figure">
      <dt>{props.label}</dt>
      <dd>
        {props.value}
        {props.share !== undefined && <meter class="share" min={0} max={1} high={0.8} optimum={0} value={Math.min(1, Math.max(0, props.share))} aria-label={`${props.label}: share in use`} />}
        {props.note !== undefined && <span class="figure-note">{props.note}</span>}
      </dd>
    </div>
  );
}
