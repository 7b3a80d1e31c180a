(frame) => {
  const style = getComputedStyle(frame);
  return [frame.clientLeft + parseFloat(style.paddingLeft), frame.clientTop + parseFloat(style.paddingTop)];
}
