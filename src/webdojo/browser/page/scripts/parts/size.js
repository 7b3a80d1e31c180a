// A document that was just opened or wiped by its script has no root element.
const pageSize = () => {
  const root = page.scrollingElement || page.documentElement;
  return root ? [root.scrollWidth, root.scrollHeight] : [0, 0];
};
