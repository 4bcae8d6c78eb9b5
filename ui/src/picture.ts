// Whether the page is opened to be made a picture (`twinscope report --image`): then only its first screen is drawn, without what can be clicked.

/** The theme of the picture, from the attribute that the program puts on the document; null where a person reads the page. */
export const picture: "light" | "dark" | null = asked();

function asked(): "light" | "dark" | null {
  if (typeof document === "undefined") return null;
  const theme = document.documentElement.dataset["picture"];
  return theme === "light" || theme === "dark" ? theme : null;
}
