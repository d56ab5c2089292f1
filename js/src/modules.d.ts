declare module "catalogue:ui" {
  const texts: { en: Record<string, string>; zh: Record<string, string> };
  export default texts;
}

declare module "worker-text:*" {
  const text: string;
  export default text;
}
