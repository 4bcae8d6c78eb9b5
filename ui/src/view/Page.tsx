// A page of charts and tables. Its block is unpacked when the page is first shown.
import { useEffect } from "preact/hooks";
import { loadBlock } from "../bundle/load";
import type { PageSpec } from "../bundle/types";
import { anchor, go, setParam } from "../state";
import { ChartView } from "./ChartView";
import { Guard, Trouble, useLoaded } from "./parts";
import { WindowTable } from "./WindowTable";

export function Page({ spec }: { spec: PageSpec }) {
  const { value: block, error } = useLoaded(() => loadBlock(spec.block), spec.block);
  const at = anchor.value;
  useEffect(() => {
    if (block && at) document.getElementById(`at-${at}`)?.scrollIntoView({ block: "start" });
  }, [block, at]);
  return (
    <>
      <div class="page-head">
        <h1>{spec.title}</h1>
        {spec.differences > 0 && (
          <a href="#overview" onClick={(e) => { e.preventDefault(); setParam("differences.page", spec.id); go("overview", "differences"); }}>
            {spec.differences === 1 ? "1 difference" : `${spec.differences} differences`} found here
          </a>
        )}
      </div>
      {error && <Trouble>{error} The other pages are not affected.</Trouble>}
      {!block && !error && <p class="quiet" role="status">Unpacking…</p>}
      {block && spec.charts.map((c) => <ChartView key={`${spec.id}/${c.id}`} chart={c} block={block} />)}
      {block && spec.tables.map((t) => (
        <Guard key={`${spec.id}/${t.id}`} what={`“${t.title}”`}>
          <WindowTable table={t} block={block} />
        </Guard>
      ))}
    </>
  );
}
