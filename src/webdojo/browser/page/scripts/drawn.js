// Waits until the page draws something.
() => new Promise((done) => new PerformanceObserver(done).observe({type: 'paint', buffered: true})).then(() => {})
