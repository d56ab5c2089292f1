// The page's style sheet. Sizes follow an 8 px rhythm; colours are tokens only: $line is var(--gv-line).
import { MONO } from "../draw/text";
import { DARK, declarations, LIGHT } from "../draw/tokens";

export const STYLE = `
:host{display:block;height:100%}
.gv{${declarations(LIGHT, false)}--gv-hl:#eef2ff;--gv-chip:#eef0f3}
.gv[data-bound]{${declarations(LIGHT, true)}}
.gv[data-theme=dark]{${declarations(DARK, false)}--gv-hl:#232a3d;--gv-chip:#2a3038}
.gv[data-theme=dark][data-bound]{${declarations(DARK, true)}}
.gv{box-sizing:border-box;container:gv/inline-size;background:$bg;color:$text;
 font:13px/1.45 var(--jp-ui-font-family,system-ui),system-ui,"Segoe UI","Noto Sans","Noto Sans CJK SC","PingFang SC","Microsoft YaHei",sans-serif;font-variant-numeric:tabular-nums;
 display:flex;flex-direction:column;text-align:left;position:relative;-webkit-font-smoothing:antialiased}
.gv *{box-sizing:border-box}
.gv>*{flex:none}
.head,.legend,.inspector,.step,.alert{zoom:var(--gv-type,1)}
.gv[data-layout=inline]{height:auto;border:1px solid $line;border-radius:6px;overflow:hidden}
.gv[data-layout=dock]{height:100%;min-height:420px;overflow-y:auto;container-type:size}
.gv[data-layout=dock] .graph{min-height:max(300px,56cqh)}
.gv[data-layout=page]{min-height:100vh}
.gv[data-layout=dock] .main,.gv[data-layout=page] .main{flex:1 0 auto}
code,pre,.mono{font-family:${MONO};font-size:12px}
[hidden]{display:none!important}
.dim{color:$dim}.bad{color:$error}
button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer}
button:focus-visible,.row:focus-visible,.graph:focus-visible,input:focus-visible{outline:2px solid $leaf-line;outline-offset:1px}
.graph:focus-visible{outline-offset:-2px}
.link{color:$leaf-line}.link:hover{text-decoration:underline}
.space{flex:1}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);margin:0;padding:0;white-space:nowrap}

.head{display:flex;flex-wrap:wrap;align-items:center;gap:6px 8px;min-height:40px;padding:6px 12px;border-bottom:1px solid $line}
.brand{font-size:14px;letter-spacing:.2px}
.chip{display:inline-flex;align-items:center;gap:6px;background:$chip;border-radius:999px;padding:2px 10px;font-size:12px;line-height:18px;color:$dim;white-space:nowrap}
button.chip:hover{color:$text}
.chip .dot{width:7px;height:7px;border-radius:50%;background:currentColor;opacity:.55}
.chip.running{color:$root-line}.chip.running .dot{opacity:1}
.chip.failed{color:$error}.chip.interrupted{color:$error}
.chip.leak{background:none;border:1px solid $leak;color:$leak;font-weight:600;padding:1px 10px}
button.chip.leak:hover{color:$leak;background:$chip}
.slot{display:inline-flex}.slot:empty{display:none}
.tools{display:flex;gap:4px}
.tool{display:inline-flex;align-items:center;justify-content:center;gap:5px;border:1px solid $line;border-radius:5px;min-width:28px;height:26px;padding:0 7px;color:$dim;font-size:12px;white-space:nowrap}
.tool:hover{color:$text;border-color:$op-line}
.menu-anchor{position:relative}
.menu{position:absolute;z-index:3;right:0;top:30px;display:flex;flex-direction:column;min-width:140px;padding:4px;background:$bg;border:1px solid $op-line;border-radius:6px}
.menu button{text-align:left;padding:5px 10px;border-radius:4px;font-size:12px;white-space:nowrap}
.menu button:hover,.menu button:focus-visible{background:$hl}
.alert{padding:6px 12px;font-size:12px;color:$error;border-bottom:1px solid $line}
.alert.note{color:$dim}

.main{display:grid;grid-template-columns:minmax(0,1fr) clamp(300px,34%,360px)}
.stage{display:flex;flex-direction:column;min-width:0}
.graph{position:relative;flex:1 1 auto;min-height:var(--gv-height,420px);outline-offset:-2px;cursor:grab;touch-action:pan-y;user-select:none;-webkit-user-select:none}
.graph.dragging{cursor:grabbing}.graph.pointing{cursor:pointer}
.graph canvas{position:absolute;inset:0;width:100%;height:100%;display:block}
.graph canvas.map{inset:auto;right:12px;top:12px;width:104px;height:76px;border:1px solid $line;border-radius:5px;cursor:crosshair}
.graph canvas.map.aside{opacity:0;pointer-events:none}
.crumbs{position:absolute;z-index:1;left:10px;top:8px;max-width:calc(100% - 140px);padding:1px 8px;font-size:11.5px;background:$bg;border:1px solid $line;border-radius:5px;cursor:default}
.crumbs button+button::before{content:"›";color:$dim;margin:0 5px}
.tool[aria-pressed=true]{border-color:$root-line;color:$text}
.menu [aria-checked=true]{font-weight:600}
.keys{position:absolute;z-index:2;right:10px;top:8px;max-height:calc(100% - 16px);overflow-y:auto;display:grid;font-size:12px;background:$bg;border:1px solid $op-line;border-radius:6px;padding:6px;cursor:default}
.keys p,.keys button{margin:0;padding:2px 8px;text-align:left;border-radius:4px}
.keys button:hover{background:$hl}
.keys [aria-pressed=false]{color:$dim;text-decoration:line-through}
kbd{display:inline-block;min-width:64px;font:12px ${MONO};color:$dim}
.empty{position:absolute;inset:0;display:grid;place-content:center;gap:6px;text-align:center;padding:24px;pointer-events:none}
.empty b{font-size:14px;font-weight:600}
.empty span{color:$dim;max-width:34em}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;min-height:32px;padding:7px 14px;font-size:11.5px;line-height:18px;color:$dim}
.legend .entry{display:inline-flex;align-items:center;gap:6px;white-space:nowrap}
.find{position:absolute;z-index:2;left:12px;top:12px;width:min(280px,calc(100% - 24px));background:$bg;border:1px solid $op-line;border-radius:6px;padding:6px;cursor:default}
.find input{width:100%;font:inherit;font-size:12.5px;padding:4px 8px}
.find .results{display:flex;flex-direction:column}
.find .results:not(:empty){margin-top:4px}
.find .results button{display:flex;gap:8px;align-items:baseline;text-align:left;padding:3px 8px;border-radius:4px;font:12px ${MONO};overflow:hidden;white-space:nowrap;text-overflow:ellipsis}
.find .results button[aria-selected=true],.find .results button:hover{background:$hl}
.find small{padding:3px 8px;font-size:11.5px}

.inspector{border-left:1px solid $line;padding:12px 14px;min-width:0;overflow-wrap:anywhere}
.inspector.idle{display:grid;place-content:center;text-align:center}
.inspector .hint{max-width:20em;margin:0}
.inspector-head h3{margin:0;font:600 14px/1.4 ${MONO}}
.inspector-head h3.dim{font-weight:400;color:$dim}
.inspector-head{margin-bottom:8px;font-size:12.5px}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 12px;margin:0 0 8px;font-size:12px}
dt{color:$dim}dd{margin:0}
.tabs{display:flex;flex-wrap:wrap;gap:0 10px;border-bottom:1px solid $line;margin:0 -14px 10px;padding:0 14px;font-size:11.5px;color:$dim}
.tabs button{padding:4px 0;border-bottom:2px solid transparent;margin-bottom:-1px;white-space:nowrap}
.tabs button:hover{color:$text}
.tabs button[aria-selected=true]{color:$text;border-bottom-color:$leaf-line;font-weight:600}
.tab-panel{font-size:12px;min-height:72px}
.tab-panel p{margin:0}
.summary{display:flex;flex-wrap:wrap;gap:0 12px;margin:2px 0 6px}
.summary span{white-space:nowrap}
.heat{display:block;width:100%;max-height:150px;image-rendering:pixelated;border-radius:3px;background:$panel}
.scale{display:flex;align-items:center;gap:8px;margin-top:4px}
.scale code{font-size:11px}
.scale i{flex:1;height:5px;border-radius:3px;background:linear-gradient(90deg,$neg,$zero,$pos)}
.matrix{margin:4px 0 6px}
.matrix-row{display:grid;grid-template-columns:repeat(var(--columns),minmax(0,var(--wide,72px)));gap:2px;margin-bottom:2px}
.matrix-row code{position:relative;text-align:right;font-size:11px;padding:1px 4px 3px;background:$panel;border-radius:2px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.matrix-row code::after{content:"";position:absolute;left:0;right:0;bottom:0;height:2px;background:var(--mark)}
.matrix.dense{--wide:64px}.matrix.dense code{padding:1px 2px 3px}
.numbers .scalar{font-size:15px}
.rule{margin-top:10px}
.rule b{display:block;font-weight:600;margin-bottom:2px}
.rule .row{display:flex;gap:6px;margin-bottom:4px}
.rule input{flex:1;min-width:0;font:12px ${MONO};padding:1px 6px}
.rule [role=status] code{display:inline}
.rule code{display:block;white-space:pre-wrap}
.entry-row{display:grid;grid-template-columns:auto minmax(0,1fr);gap:8px;margin-bottom:8px}
.square{width:9px;height:9px;margin-top:5px;border-radius:2px;border:1px solid $saved;background:$saved}
.square.freed{background:none}
.name{font-weight:600}
.why{border-left:3px solid $op-line;padding:5px 10px;background:$hl;border-radius:0 5px 5px 0;margin-bottom:8px}
.why.leak{border-left-color:$leak}.why.error{border-left-color:$error}
.holders b{display:block;font-weight:600}.holders code{display:block}
.source{margin-bottom:8px}
pre{margin:3px 0 0;padding:6px 8px;background:$panel;border:1px solid $line;border-radius:5px;white-space:pre-wrap}

.gv[data-layout=inline] .main:has(>.side){align-items:start}
.gv[data-layout=inline] .side{align-self:stretch}
.side{min-width:0;border-left:1px solid $line}
.side .inspector{border-left:0;border-top:1px solid $line}
.side .inspector.idle{display:none}
.step{padding:10px 14px 4px;font-size:12px;overflow-wrap:anywhere}
.step h3{margin:0 0 6px;font-size:13px;font-weight:600}
.step p{margin:0 0 6px}
.step h3 .dim{font-weight:400}
.step .name{font:600 12px ${MONO};text-align:left}
.step code{white-space:pre-wrap}
.step code.line{display:block}
div.quiz{float:right;margin-left:8px}
.guess{width:11em;font:12px ${MONO};padding:0 4px}
.step-part{margin-bottom:8px}
.step-part>b{display:block;font-weight:400;color:$dim;margin-bottom:1px}
.step-part .square{display:inline-block;margin:0}
.numbers-line code{display:inline!important}
.path+.path{margin-top:4px}
.player,.loop{display:flex;flex-wrap:wrap;align-items:center;gap:6px 10px;padding:7px 12px;border-top:1px solid $line;font-size:12px}
input[type=range]{flex:1 1 140px;min-width:100px;accent-color:$grad}
input:not([type=range]){color:inherit;background:$panel;border:1px solid $line;border-radius:4px}
input[type=number]{width:64px;font:inherit;padding:1px 4px}
.player .main-tool{background:$grad;border-color:$grad;color:$bg}
.player .main-tool:hover{color:$bg}
.said{color:$dim;min-width:12em}
.player .breaks{display:flex;align-items:center;gap:10px}
.chip[aria-pressed=true]{background:none;box-shadow:inset 0 0 0 1px $grad;color:$text}
button:disabled{opacity:.4;cursor:default}

.panel-body{padding:10px 14px 12px;font-size:12.5px;min-width:0;overflow-wrap:anywhere}
.panel .title{margin:0 0 6px;font-size:13px;font-weight:600}
.panel .chart{display:block;width:100%;height:auto;font-family:inherit}
.panel .chart .row{cursor:pointer}
.chart-at{margin-bottom:6px}
.choices{display:flex;flex-wrap:wrap;align-items:center;gap:6px 10px;margin:0 0 8px}
.facts{margin-bottom:10px;grid-template-columns:max-content minmax(0,1fr) max-content minmax(0,1fr)}
.pad{margin:6px 0}
.past{margin:4px 0;padding-left:18px}
.two{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:8px 24px;margin-bottom:10px}
.held b,.metric b{font-weight:600}
.bench-row{display:grid;grid-template-columns:minmax(90px,1.2fr) minmax(90px,1fr) minmax(90px,1.4fr) minmax(90px,1fr) minmax(70px,.8fr) max-content;gap:4px 12px;align-items:center;padding:4px 0;border-bottom:1px solid $line}
.bench-row .name,.block .name{font:600 12px ${MONO};text-align:left}
.block{margin-bottom:12px}
.floor{padding:2px 0}
.panel .findings{border-top:0;margin:0 -14px 8px}
.twin{border-collapse:collapse;font-size:12px;width:100%}
.twin caption{text-align:left;font-weight:600;margin-bottom:6px}
.twin th,.twin td{text-align:right;padding:3px 8px;border-bottom:1px solid $line;font-weight:400}
.twin th:first-child,.twin td:first-child{text-align:left}
.twin thead th{color:$dim}

.findings{border-top:1px solid $line}
.finding{display:grid;grid-template-columns:64px minmax(0,1fr) max-content minmax(56px,max-content);gap:2px 16px;align-items:start;padding:9px 12px;font-size:12.5px}
.finding+.finding{border-top:1px solid $line}
.rule-id{overflow-wrap:anywhere}.rule-id .link{text-align:left}
.rule-id,.rule-id .link{font-weight:600;color:$dim}
.finding.leak .rule-id,.finding.leak .rule-id .link{color:$leak}
.finding.error .rule-id,.finding.error .rule-id .link{color:$error}
.finding .place .at{font:12px ${MONO}}
.finding .size{text-align:right;white-space:nowrap}
.sentence{overflow-wrap:anywhere}
.fix{display:flex;align-items:flex-start;gap:6px;color:$dim;font-size:12px;margin-top:1px}
.fix code{color:$text}
.copy{flex:none;display:inline-grid;place-items:center;width:20px;height:18px;border-radius:4px;color:$dim}
.copy:hover{color:$text;background:$chip}
.more{padding:7px 12px;font-size:12px}
.memory{border-top:1px solid $line;padding:10px 12px 8px}
.bars{display:flex;align-items:flex-end;gap:3px}
.bars .cell{flex:1 1 0;min-width:3px;max-width:56px;display:flex;flex-direction:column;align-items:stretch}
.bars [aria-pressed=true]{outline:2px solid $leaf-line;outline-offset:1px;border-radius:2px}
.bar{display:flex;flex-direction:column;justify-content:flex-end;height:40px}
.bar i{display:block}
.bar i:first-child{border-radius:1px 1px 0 0}
.bars small{font-size:11px;line-height:14px;color:$dim;text-align:center;white-space:nowrap;overflow:hidden}
.memory-legend{display:flex;flex-wrap:wrap;gap:0 14px;margin-top:2px;font-size:11.5px}
.key{display:inline-block;width:8px;height:8px;border-radius:1px;margin-right:5px}

@container gv (max-width:640px){
.main{grid-template-columns:minmax(0,1fr);grid-template-rows:1fr auto}
.gv[data-layout=inline] .graph,.gv[data-layout=page] .graph{min-height:min(var(--gv-height,420px),360px)}
dl{grid-template-columns:max-content minmax(0,1fr) max-content minmax(0,1fr)}
.gv:not(.panel) .brand,.head .space{display:none}
.panel .brand{flex:1 0 100%}
.gv:not(.panel)>.head{display:grid;grid-template-columns:minmax(0,1fr) auto}
.tools-at{order:1;justify-self:end}.head .slot{order:1}.head .count-at,.head .leaks-at{order:2}.leaks-at{justify-self:end}
.inspector{border-left:0;border-top:1px solid $line;padding:10px 12px}
.side{border-left:0;border-top:1px solid $line}
.inspector.idle{display:block;text-align:left}
.inspector .hint{max-width:none}
.tabs{margin:0 -12px 10px;padding:0 12px}
.tool-name{display:none}
.bench-row{grid-template-columns:minmax(0,1fr) max-content}
.finding{grid-template-columns:minmax(0,1fr) max-content;gap:2px 12px}
.rule-id{order:0}.finding .size{order:1}.sentence{order:2;grid-column:1/-1}.finding .place{order:3;grid-column:1/-1}
}
@container gv (max-width:400px){.gv:not(.panel)>.head{display:flex}.tools{flex-wrap:wrap}dl{grid-template-columns:max-content minmax(0,1fr)}}
@media (forced-colors:active){.bar i,.key,.square,.scale i{forced-color-adjust:none}.chip,.tool{border:1px solid}
.gv.gv.gv.gv{--gv-bg:Canvas;--gv-panel:Canvas;--gv-line:CanvasText;--gv-text:CanvasText;--gv-dim:CanvasText;--gv-op:Canvas;--gv-op-line:CanvasText;--gv-leaf:Canvas;--gv-leaf-line:LinkText;--gv-root:Canvas}}
@media (prefers-contrast:more){.gv.gv.gv.gv{--gv-dim:$text;--gv-line:$op-line}}
`.replace(/\$([a-z-]+)/g, "var(--gv-$1)");
