declare module "catalogue:ui" {
  const texts: { en: Record<string, string>; zh: Record<string, string> };
  export default texts;
}

declare module "layout:function" {
  export const layoutGraph: typeof import("./layout/layout").layoutGraph;
  /** Its own text. */
  export const layoutText: string;
}
