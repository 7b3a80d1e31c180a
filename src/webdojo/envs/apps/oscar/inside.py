"""The shop inside: settings of django-oscar, its world written through its own models, its WSGI application."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.apps import apps
from django_site import log_in, make_base, model, served, set_up, time, write

FLOW = ("Pending", "Processing", "Shipped", "Complete")
"""The states of an order, in order; it can be cancelled until it is shipped."""
urlpatterns: list[Any] = []


def _set_up() -> None:
    from oscar import INSTALLED_APPS
    from oscar.defaults import OSCAR_DASHBOARD_NAVIGATION

    defaults = {key: value for key, value in vars(__import__("oscar.defaults").defaults).items() if key.isupper()}
    defaults |= {
        "OSCAR_SHOP_NAME": "Oscar",
        "OSCAR_MODERATE_REVIEWS": False,
        "OSCAR_DASHBOARD_NAVIGATION": OSCAR_DASHBOARD_NAVIGATION,
        "OSCAR_INITIAL_ORDER_STATUS": FLOW[0],
        "OSCAR_INITIAL_LINE_STATUS": FLOW[0],
        "OSCAR_ORDER_STATUS_PIPELINE": {
            status: (*FLOW[at + 1 : at + 2], *(("Cancelled",) if at < 2 else ())) for at, status in enumerate(FLOW)
        }
        | {"Cancelled": ()},
        "OSCAR_SEND_REGISTRATION_EMAIL": False,
    }
    processors = [
        "django.template.context_processors.request",
        "django.contrib.auth.context_processors.auth",
        "django.contrib.messages.context_processors.messages",
        "oscar.apps.search.context_processors.search_form",
        "oscar.apps.checkout.context_processors.checkout",
        "oscar.apps.communication.notifications.context_processors.notifications",
        "oscar.core.context_processors.metadata",
    ]
    set_up(
        **defaults,
        AUTHENTICATION_BACKENDS=["oscar.apps.customer.auth_backends.EmailBackend"],
        HAYSTACK_CONNECTIONS={"default": {"ENGINE": "haystack.backends.whoosh_backend.WhooshEngine", "PATH": "search"}},
        INSTALLED_APPS=INSTALLED_APPS,
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "django.contrib.flatpages.middleware.FlatpageFallbackMiddleware",
            "oscar.apps.basket.middleware.BasketMiddleware",
        ],
        ROOT_URLCONF=__name__,
        SITE_ID=1,
        context_processors=processors,
    )
    from django.urls import include, path

    urlpatterns[:] = [
        path("i18n/", include("django.conf.urls.i18n")),
        path("", include(apps.get_app_config("oscar").urls[0])),
    ]


def install() -> None:
    """Make an empty database and gather the static files."""
    _set_up()
    make_base()


def application() -> Any:
    """The WSGI application, all of whose code and templates of common pages are loaded."""
    _set_up()
    return served("/catalogue/", "/dashboard/login/", "/basket/")


def seed(world: dict[str, Any]) -> dict[str, Any]:
    """Write a world into the empty database, and return the cookies of its log-ins by role."""
    _set_up()
    from django.core.management import call_command
    from django.db import transaction

    with transaction.atomic():
        _people(world)
        _catalogue(world)
        _orders(world)
        _reviews(world)
        logins = {"customer": log_in(world["customers"][0]["id"]), "staff": log_in(world["staff"]["id"])}
    call_command("update_index", verbosity=0)
    return logins


def _people(world: dict[str, Any]) -> None:
    from django.contrib.auth.hashers import make_password
    from django.contrib.sites.models import Site

    User, Country, Address = model("auth.User"), model("address.Country"), model("address.UserAddress")
    Site.objects.update_or_create(id=1, defaults={"domain": world["host"], "name": "Oscar"})
    Country.objects.create(
        iso_3166_1_a2="GB", iso_3166_1_a3="GBR", iso_3166_1_numeric="826", name="United Kingdom",
        printable_name="United Kingdom", is_shipping_country=True,
    )  # fmt: skip
    password = make_password(world["password"], salt="webdojo")
    joined = time(world["today"]) - timedelta(days=900)

    def user(person: dict[str, Any], staff: bool) -> Any:
        return User(
            id=person["id"], username=person["email"], email=person["email"], first_name=person["first"],
            last_name=person["last"], password=password, is_staff=staff, is_superuser=staff, date_joined=joined,
        )  # fmt: skip

    write(User, iter([user(world["staff"], True), *(user(each, False) for each in world["customers"])]))
    for each in world["customers"]:
        address = Address(id=each["id"], user_id=each["id"], country_id="GB", **_address(each))
        address.save()


def _address(person: dict[str, Any]) -> dict[str, str]:
    address = person["address"]
    return {
        "first_name": person["first"], "last_name": person["last"], "line1": address["street"],
        "line4": address["town"], "postcode": address["postcode"],
    }  # fmt: skip


def _catalogue(world: dict[str, Any]) -> None:
    Category, ProductClass = model("catalogue.Category"), model("catalogue.ProductClass")
    Product, ProductCategory = model("catalogue.Product"), model("catalogue.ProductCategory")
    Attribute, Value = model("catalogue.ProductAttribute"), model("catalogue.ProductAttributeValue")
    Partner, Stock = model("partner.Partner"), model("partner.StockRecord")
    for each in world["categories"]:
        Category.add_root(id=each["id"], name=each["name"], slug=each["name"].lower())
    kind = ProductClass.objects.create(id=1, name="Goods", slug="goods", requires_shipping=True, track_stock=True)
    Partner.objects.create(id=1, name=world["partner"], code="house")
    labels = {"color": "Colour", "material": "Material", "weight": "Weight (g)"}
    for at, (code, label) in enumerate(labels.items(), 1):
        type_ = "integer" if code == "weight" else "text"
        Attribute.objects.create(id=at, product_class=kind, name=label, code=code, type=type_, required=False)
    scores = defaultdict(list)
    for review in world["reviews"]:
        if review["status"] == 1:
            scores[review["product"]].append(review["score"])
    first = time(world["today"]) - timedelta(days=600)
    goods = world["products"]
    write(
        Product,
        (
            Product(
                id=each["id"], structure="standalone", upc=each["upc"], title=each["title"], slug=each["slug"],
                description=each["description"], product_class=kind, is_public=True, is_discountable=True,
                meta_description="",  # as the dashboard saves it
                rating=sum(scores[each["id"]]) / len(scores[each["id"]]) if scores[each["id"]] else None,
            )
            for each in goods
        ),
    )  # fmt: skip
    for each in goods:
        Product.objects.filter(id=each["id"]).update(date_created=first + timedelta(hours=each["id"]))
    pairs = (ProductCategory(id=each["id"], product_id=each["id"], category_id=each["category"]) for each in goods)
    write(ProductCategory, pairs)
    write(
        Stock,
        (
            Stock(
                id=each["id"], product_id=each["id"], partner_id=1, partner_sku=each["upc"], price_currency="GBP",
                price=Decimal(each["price"]), num_in_stock=each["stock"], num_allocated=0, low_stock_threshold=5,
            )
            for each in goods
        ),
    )  # fmt: skip
    write(
        Value,
        (
            Value(
                attribute_id=at, product_id=each["id"],
                **({"value_integer": each[code]} if code == "weight" else {"value_text": each[code]}),
            )
            for each in goods
            for at, code in enumerate(labels, 1)
        ),
    )  # fmt: skip


def _orders(world: dict[str, Any]) -> None:
    Order, Line, Price = model("order.Order"), model("order.Line"), model("order.LinePrice")
    Address = model("order.ShippingAddress")
    goods = {each["id"]: each for each in world["products"]}
    people = {each["id"]: each for each in world["customers"]}

    def cost(line: dict[str, Any]) -> Decimal:
        return Decimal(goods[line["product"]]["price"]) * line["quantity"]

    orders = world["orders"]
    addresses = (Address(id=o["id"], country_id="GB", **_address(people[o["customer"]])) for o in orders)
    write(Address, addresses)
    write(
        Order,
        (
            Order(
                id=each["id"], number=each["number"], site_id=1, user_id=each["customer"], currency="GBP",
                total_incl_tax=(total := sum(map(cost, each["lines"]))), total_excl_tax=total, shipping_incl_tax=0,
                shipping_excl_tax=0, shipping_address_id=each["id"], shipping_method="Free shipping",
                shipping_code="free-shipping", status=each["status"], date_placed=time(each["date"]),
            )
            for each in orders
        ),
    )  # fmt: skip
    lines = [
        Line(
            order_id=order["id"], partner_id=1, partner_name=world["partner"], partner_sku=product["upc"],
            stockrecord_id=product["id"], product_id=product["id"], title=product["title"], upc=product["upc"],
            quantity=line["quantity"], line_price_incl_tax=cost(line), line_price_excl_tax=cost(line),
            line_price_before_discounts_incl_tax=cost(line), line_price_before_discounts_excl_tax=cost(line),
            unit_price_incl_tax=Decimal(product["price"]), unit_price_excl_tax=Decimal(product["price"]),
            status=order["status"], num_allocated=0,
        )
        for order in orders
        for line in order["lines"]
        for product in [goods[line["product"]]]
    ]  # fmt: skip
    for at, line in enumerate(lines, 1):
        line.id = at
    write(Line, iter(lines))
    write(
        Price,
        (
            Price(
                order_id=line.order_id, line_id=line.id, quantity=line.quantity,
                price_incl_tax=line.unit_price_incl_tax, price_excl_tax=line.unit_price_excl_tax,
            )
            for line in lines
        ),
    )  # fmt: skip


def _reviews(world: dict[str, Any]) -> None:
    Review = model("reviews.ProductReview")
    write(
        Review,
        (
            Review(
                id=each["id"], product_id=each["product"], user_id=each["customer"], score=each["score"],
                title=each["title"], body=each["body"], status=each["status"],
            )
            for each in world["reviews"]
        ),
    )  # fmt: skip
    for each in world["reviews"]:
        Review.objects.filter(id=each["id"]).update(date_created=time(each["date"]))
