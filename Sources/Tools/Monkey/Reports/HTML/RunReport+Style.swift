extension RunReport {
    /// The style sheet of the page, for light and dark, and for wide and narrow windows.
    static let style: Markup = """

        :root { color-scheme: light dark; --page: #f7f7f5; --card: #ffffff; --text: #1d2126; --muted: #5d6672;
          --rule: #e4e6e9; --grid: #eceef0; --writes: #b35309; --reads: #1f61bd; --neutral: #56606c; --good: #19764a;
          --bad: #b3261e; --warn: #855700; --shade: #f0f1f2; }
        @media (prefers-color-scheme: dark) {
          :root { --page: #131619; --card: #1a1e22; --text: #e4e7ea; --muted: #98a2ad; --rule: #2b3137; --grid: #262b31;
            --writes: #f0a25c; --reads: #7fb5ff; --neutral: #a5b0bb; --good: #5fcb92; --bad: #ff8d83; --warn: #e6bf68;
            --shade: #22272c; } }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; }
        body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, -apple-system,
          "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-variant-numeric: tabular-nums; }
        main { max-width: 1160px; margin: 0 auto; padding: 28px 24px 56px; }
        h1 { margin: 2px 0 4px; font-size: 32px; line-height: 1.2; font-weight: 650; letter-spacing: -.01em; }
        h2 { margin: 0 0 10px; font-size: 17px; font-weight: 650; }
        h3 { margin: 0 0 2px; font-size: 15px; font-weight: 600; }
        p { margin: 0 0 6px; max-width: 78ch; overflow-wrap: anywhere; }
        section, .notes { margin-top: 32px; }
        code, pre { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        pre { margin: 8px 0 0; padding: 10px 12px; background: var(--shade); border-radius: 6px; overflow-x: auto; }
        .muted { color: var(--muted); font-weight: 400; }
        .good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
        .quotes { display: grid; grid-template-columns: 1fr 1fr; gap: 16px; margin-top: 20px; }
        .quote { margin: 0; padding: 14px 18px 16px; background: var(--card); border: 1px solid var(--rule);
          border-left-width: 4px; border-radius: 8px; }
        .quote.writes { border-left-color: var(--writes); } .quote.reads { border-left-color: var(--reads); }
        .quote h2 { margin: 0; color: var(--muted); font-size: 14px; font-weight: 600; }
        .quote .rate { margin: 0 0 8px; font-size: 30px; line-height: 1.3; font-weight: 650; letter-spacing: -.01em; }
        .quote .rate .muted { font-size: 15px; letter-spacing: 0; }
        .quote dl { display: flex; flex-wrap: wrap; gap: 4px 28px; margin: 0; }
        .quote dt { color: var(--muted); font-size: 13px; } .quote dd { margin: 0; font-size: 17px; font-weight: 600; }
        .notes { padding: 10px 16px; background: var(--card); border: 1px solid var(--rule);
          border-left: 4px solid var(--warn); border-radius: 8px; }
        .notes p { margin: 2px 0; }
        .violation { margin: 0 0 12px; padding: 12px 16px 14px; background: var(--card); border: 1px solid var(--rule);
          border-left: 4px solid var(--bad); border-radius: 8px; overflow-wrap: anywhere; }
        .violation h3 .muted { margin-left: 6px; font-size: 13px; }
        summary { margin-bottom: 12px; color: var(--muted); cursor: pointer; }
        .charts { display: grid; gap: 16px; margin-bottom: 16px; grid-template-columns: 1fr; }
        @media (min-width: 820px) { .charts.two { grid-template-columns: 1fr 1fr; }
          .charts.three { grid-template-columns: 1fr 1fr 1fr; } .charts > :only-child { grid-column: 1 / -1; } }
        .chart { margin: 0; padding: 12px 14px 10px; min-width: 0; background: var(--card);
          border: 1px solid var(--rule); border-radius: 8px; }
        figcaption { font-size: 14px; line-height: 1.4; } figcaption b { font-weight: 600; }
        figcaption .muted, .key { font-size: 13px; } .key { margin-left: 10px; color: var(--muted); white-space: nowrap; }
        .key svg { display: inline; width: 24px; height: 8px; vertical-align: middle; }
        .plot { display: grid; grid-template-columns: 54px minmax(0, 1fr) 44px; grid-template-rows: 18px 200px 24px; }
        .low .plot { grid-template-columns: 54px minmax(0, 1fr) 12px; grid-template-rows: 18px 130px 24px; }
        .plot > svg { grid-area: 2 / 2; width: 100%; height: 100%; overflow: visible; }
        .marks, .x, .y, .ends { position: relative; color: var(--muted); font-size: 12px; line-height: 16px; }
        .plot span { position: absolute; white-space: nowrap; }
        .marks { grid-area: 1 / 2; } .marks span { bottom: 1px; transform: translateX(-50%); font-weight: 600; }
        .marks .violation, .plot .violation { color: var(--bad); margin: 0; padding: 0; background: none; border: 0; }
        .y { grid-area: 2 / 1; } .y span { right: 8px; transform: translateY(-50%); }
        .ends { grid-area: 2 / 3; } .ends span { left: 6px; transform: translateY(-50%); font-weight: 600; }
        .ends .thin { font-weight: 400; }
        .x { grid-area: 3 / 2; } .x span { top: 6px; transform: translateX(-50%); }
        .ends .writes { color: var(--writes); } .ends .reads { color: var(--reads); }
        svg path { fill: none; stroke-linecap: round; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
        svg .grid { stroke: var(--grid); stroke-width: 1; stroke-linecap: butt; }
        svg .writes { stroke: var(--writes); } svg .reads { stroke: var(--reads); } svg .neutral { stroke: var(--neutral); }
        svg .bad { stroke: var(--bad); } svg .warn { stroke: var(--warn); }
        svg .bold { stroke-width: 2; } svg .line { stroke-width: 1.4; } svg .thin { stroke-width: 1; opacity: .6; }
        svg .dashed { stroke-width: 1.4; stroke-dasharray: 5 4; stroke-linecap: butt; }
        svg .band { stroke: none; opacity: .13; } svg .dot { stroke-width: 8; }
        svg .writes.band { fill: var(--writes); } svg .reads.band { fill: var(--reads); }
        svg .neutral.band { fill: var(--neutral); } svg .bad.band { fill: var(--bad); }
        svg .fault { stroke: var(--muted); stroke-width: 1; stroke-dasharray: 2 3; stroke-linecap: butt; }
        svg .violation { stroke: var(--bad); stroke-width: 1.4; stroke-linecap: butt; }
        svg .limit { stroke: var(--muted); stroke-width: 1.2; stroke-dasharray: 3 3; stroke-linecap: butt; }
        svg .slice { fill: var(--text); opacity: 0; } svg .slice:hover { opacity: .07; }
        .interval { display: block; } .interval .grid, .strip .grid { stroke: var(--muted); opacity: .5; } .strip { display: block; width: 100%; min-width: 160px; height: 16px; }
        .scroll { overflow-x: auto; background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
        table { width: 100%; border-collapse: collapse; font-size: 14px; }
        th, td { padding: 6px 12px; text-align: left; font-weight: 400; white-space: nowrap;
          border-top: 1px solid var(--grid); }
        thead th { color: var(--muted); font-size: 13px; border-top: 0; }
        thead tr + tr th { padding-top: 0; } thead tr:not(:last-child) th { padding-bottom: 2px; }
        th[colspan] { text-align: center; }
        tbody th:first-child { position: sticky; left: 0; background: var(--card); }
        .long { min-width: 11rem; max-width: 24rem; white-space: normal; overflow-wrap: anywhere; }
        .n { text-align: right; } th.c { text-align: center; }
        .packed th:last-child, .packed td:last-child { width: 100%; }
        td.muted { white-space: normal; min-width: 160px; }
        tr.sum th, tr.sum td { font-weight: 600; }
        .scroll + .muted { margin: 8px 0 0; font-size: 13px; }
        .facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); gap: 10px 24px; margin: 0; }
        .facts dt { color: var(--muted); font-size: 13px; } .facts dd { margin: 0; overflow-wrap: anywhere; }
        :focus-visible { outline: 2px solid var(--reads); outline-offset: 2px; }
        @media (max-width: 560px) {
          main { padding: 18px 14px 40px; } h1 { font-size: 25px; } .quotes { grid-template-columns: 1fr; gap: 10px; }
          .quote .rate { font-size: 26px; } .chart { padding: 10px 10px 8px; } section { margin-top: 26px; }
          th, td { padding: 6px 9px; } .long { max-width: 11rem; }
          .facts { grid-template-columns: repeat(auto-fill, minmax(140px, 1fr)); } }
        @media print { body { background: none; } .chart, .quote, .violation { break-inside: avoid; } }

        """
}
